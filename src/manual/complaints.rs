//! # What operators of other products miss
//!
//! People who steer names by DNS have told in public, for years, what hurts. Each line here is such a wish, what answers it
//! in Bascule, and the tests that hold it: their names say what they promise, and a test sees to it that they are there.
//!
//! | missed elsewhere | here | held by the tests |
//! |---|---|---|
//! | the documentation says "fail back by hand", and the product returns by itself | `mode = "off"` of the direction that returns ([`scenarios`](super::scenarios)) | `auto_in_manual_out_works_twice_and_a_restart_while_active_answers_the_dr_set_first`, `auto_in_manual_out_works_twice_in_a_row` |
//! | a box that was restarted forgets that it had failed over, and returns | the state of every scenario is saved before it is published | `a_saved_state_stands_at_once_and_nothing_moves_before_the_checks_are_known`, `twenty_kills_under_load_lose_no_commit_and_no_act_and_the_journal_replays` |
//! | one lost probe takes a server out; checks flap | `rise`, `fall`, interval and time-out of each check | `a_check_that_fails_every_second_time_never_changes_its_state_and_two_failures_in_a_row_do_at_the_second` |
//! | the first answers after a start come from the wrong set | checks begin with the configuration; until then the saved or the initial state answers | `the_first_answer_after_a_start_is_never_the_dr_set_unless_that_was_saved` |
//! | no choice of what is answered while all are down | `on_empty` with six policies ([`records`](super::records)) | `every_policy_for_an_empty_set_does_what_it_says`, `every_policy_shows_in_answer_and_extended_error` |
//! | storms of probes: one for each record, more after each edit | a check is probed once an interval, whoever refers to it, and keeps its phase | `many_records_that_share_a_check_cost_one_probe_an_interval_and_an_edit_of_a_record_moves_no_probe` |
//! | probes go on after the record was deleted | what the configuration no longer has is not probed | `a_check_that_nothing_refers_to_any_more_and_that_was_deleted_is_not_probed_again` |
//! | no way to see or export the state of health | REST, shell, metrics and events show what DNS answers by | `two_appliances_with_one_configuration_and_the_same_inputs_answer_alike_and_as_their_own_interfaces_say` |
//! | nobody knows what happens when sites lose sight of each other | the table of [`pairs`](super::pairs), walked from every row to every other | `the_table_holds_after_every_walk_from_any_row_to_any_other_in_any_order_of_signals` |
//! | weights that do not show in the traffic | a weighted permutation for each query. What a resolver caches it gives to all its clients: shares hold over many resolvers, not within one | `shares_follow_the_weights_within_one_percent` |
//! | a dead address is answered, and nobody knows why | `serve_all` is a policy that says so: metric, log, extended error, `explain` | `a_dead_address_that_is_answered_on_purpose_says_so_in_metric_log_and_explanation` |
//! | an override that matched nothing was accepted, and did nothing | unknown names are refused with the nearest one; `explain` names each step | `an_override_of_something_that_is_not_there_is_refused_and_one_that_is_shows_in_the_explanation` |
//! | one point of view decides alone | quorums over several targets, unknown apart from false | `a_quorum_is_unknown_exactly_while_the_unknown_targets_can_decide_it` |
//! | a check that many share is shown once, without those who use it | each record shows the value of its check and which step decided | `each_record_says_which_step_decided_about_it` |
//! | a second instance with the same configuration ends up answering nothing | answers follow from configuration and inputs alone; NODATA only where `on_empty = "nodata"` | `two_appliances_with_one_configuration_and_the_same_inputs_answer_alike_and_as_their_own_interfaces_say` |
//! | no thresholds against flapping, nobody counts the flaps | `rise`, `fall`, holds, `flaps<`, `min_dwell`, `oscillation`; each scenario numbers its commits | `under_noise_the_number_of_transitions_stays_below_its_bound_and_is_counted` |
//! | a host that was marked down stays down for ever | a target that is good again is up within `rise` samples | `a_target_that_is_good_again_is_up_within_rise_intervals_from_any_state` |
//! | a reset marks a server down before any threshold | refused, reset, silent, wrong content and broken TLS are one failed sample each | `whatever_goes_wrong_with_a_probe_is_one_failed_sample_and_none_goes_past_fall` |
//! | a backup hides that the pool behind it is dead | `vs:NAME.primary` beside the effective state | `a_backup_that_masks_a_dead_pool_does_not_hide_it_from_conditions` |
//! | clients with an old answer are cut off, and nobody says how long they will come | the time by which caches have let go, from the TTLs given; drains keep the old address answering | `a_published_commit_tells_by_when_caches_have_let_go_from_the_ttls_really_given`, `after_a_flip_the_caches_time_stands_in_rest_shell_and_timeline_and_the_past_can_be_asked`, `a_delay_drains_an_idle_service_for_exactly_that_long_also_over_a_kill` |
//! | the script ran on the way out and not on the way back | triggers of both directions from one outbox, at least once, in order | `each_commit_in_either_direction_has_exactly_one_delivery_for_each_of_its_triggers`, `every_commit_is_told_in_order_under_one_key_whatever_is_killed_and_whatever_the_receiver_does` |
