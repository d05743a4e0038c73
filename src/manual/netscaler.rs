//! # NetScaler's parameters, one by one
//!
//! Keys are NetScaler's names in snake case. *Supported*: it does what it does there, or what stands beside it.
//! *Stored*: taken, shown and rendered, and nothing follows from it. *Refused*: named at load as not available in this
//! build; nothing is taken and ignored. A test reads these tables and holds them against what a configuration may say.
//!
//! ## lb vserver
//!
//! `[vserver.NAME]`; content switching is `[cs_vserver.NAME]`, see [`rules`](super::rules).
//!
//! | parameter | | here | remark |
//! |---|---|---|---|
//! | name | supported | `[vserver.NAME]` | |
//! | serviceType | supported | `type` | HTTP, SSL, SSL_BRIDGE, TCP, SSL_TCP, UDP, DNS, DNS_TCP, ANY; others are refused by name |
//! | IPAddress, port | supported | `address` | one address with its port; none: reachable as a backup or target |
//! | bind lb vserver, weight | supported | `services` | 0 to 100; 0: no new clients |
//! | bind lb vserver, order | supported | `services` | `{ weight, order }`; new clients go to the lowest order with a member UP |
//! | bind lb vserver, serviceGroupName | supported | `groups` | |
//! | lbMethod | supported | `lb_method` | USER_TOKEN, LRTM and AUDITLOGHASH are refused by name |
//! | backupLBMethod | supported | `backup_lb_method` | |
//! | hashLength | supported | `hash_length` | |
//! | netmask | supported | `netmask` | |
//! | v6netmasklen | supported | `v6netmasklen` | |
//! | rule | supported | `token`, `persistence` | of the method: `token`; of persistence: `persistence.request`. A value of the request instead of an expression |
//! | persistenceType, timeout | supported | `persistence` | `persistence.type`, `persistence.timeout` |
//! | persistenceBackup, backupPersistenceTimeout | supported | `persistence` | `persistence.backup`, `persistence.backup_timeout` |
//! | persistMask, v6persistmasklen | supported | `persistence` | `persistence.prefix_v4`, `persistence.prefix_v6` |
//! | cookieName | supported | `persistence` | `persistence.cookie_name` |
//! | trofsPersistence | supported | `trofs_persistence` | |
//! | skippersistency | supported | `skip_persistency` | |
//! | redirectURL | supported | `redirect_url` | |
//! | cltTimeout | supported | `clt_timeout` | |
//! | soMethod, soThreshold | supported | `spillover` | `spillover.method`, `spillover.threshold`; a bandwidth with its unit |
//! | soPersistence, soPersistenceTimeOut | supported | `spillover` | `spillover.persistence`, `spillover.persistence_timeout` |
//! | soBackupAction | supported | `spillover` | `spillover.backup_action` |
//! | healthThreshold | supported | `health_threshold` | |
//! | downStateFlush | supported | `down_state_flush` | |
//! | backupVServer | supported | `backup` | of the same type, with or without TLS: HTTP and SSL, TCP and SSL_TCP |
//! | disablePrimaryOnDown | supported | `disable_primary_on_down` | |
//! | sslCertKey bindings | supported | `certificates` | and `tls` for versions and client certificates |
//! | bind lb vserver, policyName | supported | `responder_policies`, `rewrite_policies` | and `cs_policies` of content switching, see [`policies`](super::policies) |
//! | comment | stored | `comment` | |
//! | appflowLog | stored | `app_flow_log` | there is no AppFlow; the access log tells the same |
//! | state | refused | `state` | whether a vserver is disabled is state: `disable lb vserver` |
//! | newServiceRequest, newServiceRequestIncrementInterval | refused | `new_service_request` | `slow_start` gives a member its share over a time |
//! | resRule | refused | `res_rule` | stands in `persistence.response` |
//! | order | refused | `order` | belongs to each member: `services` and members of groups |
//! | m | refused | `m` | requests go to the server's address; there is no MAC, tunnel or TOS mode |
//! | tosId | refused | `tos_id` | as above |
//! | dataLength, dataOffset | refused | `data_length` | of the method TOKEN on raw bytes; `token` takes a value of the request |
//! | td | refused | `td` | no traffic domains |
//! | push, pushVserver | refused | `push` | no server push |
//! | listenPolicy | refused | `listen_policy` | rules choose by what a connection or request is |
//! | listenPriority | refused | `listen_priority` | as above |
//! | authentication | refused | `authentication` | no authentication of users of the traffic |
//! | range | refused | `range` | one address each |
//! | IPPattern | refused | `ip_pattern` | as above |
//! | IPMask | refused | `ip_mask` | as above |
//! | icmpVsrResponse | refused | `icmp_vsr_response` | the kernel answers pings of addresses that it has |
//! | RHIstate | refused | `rhi_state` | no routing protocol is spoken |
//! | httpProfileName | refused | `http_profile_name` | `http2`, `forwarded_for` and their like stand in the vserver |
//! | tcpProfileName | refused | `tcp_profile_name` | the kernel's settings are used |
//! | netProfile | refused | `net_profile` | connections leave from the address that the routing table chooses |
//! | dbProfileName | refused | `db_profile_name` | databases are TCP vservers |
//! | minAutoscaleMembers | refused | `min_autoscale_members` | nothing scales servers from here |
//!
//! ## service
//!
//! `[service.NAME]`
//!
//! | parameter | | here | remark |
//! |---|---|---|---|
//! | name | supported | `[service.NAME]` | |
//! | IP, serverName | supported | `server`, `address` | a server object and `port`, or an address of its own |
//! | port | supported | `port` | |
//! | serviceType | supported | `type` | as of a vserver |
//! | bind service, monitorName, weight | supported | `monitors` | |
//! | healthMonitor | supported | `health_monitor` | |
//! | monThreshold | supported | `mon_threshold` | |
//! | maxClient | supported | `max_client` | what is over it waits in the vserver's `surge` |
//! | maxReq | supported | `max_req` | |
//! | maxBandwidth | supported | `max_bandwidth` | with its unit: `"10Mbit/s"` |
//! | cip, cipHeader | supported | `cip`, `cip_header` | |
//! | svrTimeout | supported | `svr_timeout` | |
//! | downStateFlush | supported | `down_state_flush` | |
//! | CustomServerID | supported | `custom_server_id` | |
//! | hashId | supported | `hash_id` | |
//! | serverAuth, commonName | supported | `tls` | `tls.verify`, `tls.server_name` |
//! | delay, graceFul | supported | `disable service` | acts on the running appliance, not configuration: they outlive a restart |
//! | state | refused | `state` | whether a service is disabled is state: `disable service` |
//! | comment | stored | `comment` | |
//! | sp | refused | `sp` | the surge queue belongs to the vserver: `surge` |
//! | cltTimeout | refused | `clt_timeout` | of the vserver |
//! | usip | refused | `usip` | servers see the appliance's address; `proxy_protocol`, `cip` and X-Forwarded-For tell the client's |
//! | useproxyport | refused | `use_proxy_port` | as above |
//! | CKA | refused | `cka` | clients are kept alive always |
//! | TCPB | refused | `tcpb` | buffering is the kernel's |
//! | CMP | refused | `cmp` | no compression |
//! | accessDown | refused | `access_down` | `health_monitor = false` takes a service for UP |
//! | clearTextPort | refused | `clear_text_port` | make a service of type HTTP |
//! | cacheType | refused | `cache_type` | no caches are redirected to |
//! | tcpProfileName | refused | `tcp_profile_name` | the kernel's settings are used |
//! | httpProfileName | refused | `http_profile_name` | `http2` and `max_req` stand in the service |
//! | td | refused | `td` | no traffic domains |
//! | GSLB | refused | `gslb` | records and scenarios do that: see [`import`](super::import) |
//! | netProfile | refused | `net_profile` | connections leave from the address that the routing table chooses |
//! | appflowLog | stored | `app_flow_log` | there is no AppFlow; the access log tells the same |
//! | pathMonitor | refused | `pathmonitor` | bind a monitor |
//! | monConnectionClose | refused | `monconnectionclose` | a probe closes its connection |
//! | autoScale | refused | `auto_scale` | of groups: `[service_group.NAME]` |
//! | memberPort | refused | `member_port` | as above |
//!
//! ## serviceGroup
//!
//! `[service_group.NAME]` and `[service_group.NAME.member.NAME]`. What stands under service above holds for a group and
//! is said once for all its members.
//!
//! | parameter | | here | remark |
//! |---|---|---|---|
//! | serviceGroupName | supported | `[service_group.NAME]` | |
//! | serviceType | supported | `type` | |
//! | bind serviceGroup, IP or serverName, port | supported | `address`, `server`, `port` | of the member |
//! | bind serviceGroup, weight | supported | `weight` | of the member |
//! | bind serviceGroup, order | supported | `order` | of the member |
//! | bind serviceGroup, CustomServerID, hashId | supported | `custom_server_id`, `hash_id` | of the member |
//! | bind serviceGroup, monitorName | supported | `monitors` | |
//! | healthMonitor, monThreshold | supported | `health_monitor`, `mon_threshold` | |
//! | maxClient, maxReq, maxBandwidth | supported | `max_client`, `max_req`, `max_bandwidth` | of each member |
//! | cip, cipHeader | supported | `cip`, `cip_header` | |
//! | svrTimeout | supported | `svr_timeout` | |
//! | downStateFlush | supported | `down_state_flush` | |
//! | delay, graceFul | supported | `disable serviceGroup` | acts on the running appliance, not configuration |
//! | state | refused | `state` | `disable serviceGroup`, of the group or of one member |
//! | autoScale | supported | `auto_scale` | DISABLED and DNS, see [`members`](super::members); POLICY, CLOUD and API are refused |
//! | autoDisabledelay | supported | `auto_disable_delay` | |
//! | autoDisablegraceful | supported | `auto_disable_graceful` | |
//! | autoDelayedTrofs | supported | `auto_delayed_trofs` | waits for the longest response time-out of the group's monitors |
//! | memberPort | refused | `member_port` | `port` of the member, or the SRV record |
//! | comment | stored | `comment` | |
//! | sp | refused | `sp` | as of a service |
//! | cltTimeout | refused | `clt_timeout` | of the vserver |
//! | usip, useproxyport | refused | `usip`, `use_proxy_port` | as of a service |
//! | CKA, TCPB, CMP | refused | `cka`, `tcpb`, `cmp` | as of a service |
//! | accessDown | refused | `access_down` | as of a service |
//! | clearTextPort | refused | `clear_text_port` | as of a service |
//! | cacheType | refused | `cache_type` | as of a service |
//! | tcpProfileName, httpProfileName | refused | `tcp_profile_name`, `http_profile_name` | as of a service |
//! | td | refused | `td` | no traffic domains |
//! | GSLB | refused | `gslb` | as of a service |
//! | netProfile | refused | `net_profile` | as of a service |
//! | appflowLog | stored | `app_flow_log` | there is no AppFlow; the access log tells the same |
//! | pathMonitor | refused | `pathmonitor` | as of a service |
//! | monConnectionClose | refused | `monconnectionclose` | as of a service |
//!
//! ## lb monitor
//!
//! `[monitor.NAME]`; what each type does stands in [`monitors`](super::monitors).
//!
//! | parameter | | here | remark |
//! |---|---|---|---|
//! | type | supported | `type` | POSTGRESQL and REDIS beside NetScaler's; types that are not probed are stored, see [`monitors`](super::monitors) |
//! | interval, units3 | supported | `interval` | with its unit: `"500ms"`, `"2m"`; a bare number is seconds |
//! | resptimeout, units4 | supported | `response_timeout` | |
//! | resptimeoutThresh | supported | `response_timeout_threshold` | a warning in journal and log instead of a trap |
//! | retries | supported | `retries` | |
//! | failureRetries | supported | `failure_retries` | |
//! | alertRetries | supported | `alert_retries` | a warning in journal and log instead of a trap |
//! | successRetries | supported | `success_retries` | |
//! | downTime, units2 | supported | `down_time` | |
//! | deviation, units1 | supported | `deviation` | |
//! | LRTM | supported | `lrtm` | the average is learned and shown; no probe is skipped because traffic was seen |
//! | reverse | supported | `reverse` | |
//! | state | supported | `state` | of this definition alone, not of all monitors of the type |
//! | secure | supported | `secure` | and `verify`, `server_name`: NetScaler does not verify without a profile |
//! | commonName | supported | `server_name` | the name that is sent (SNI), and verified where `verify` says so |
//! | destIP | supported | `dest_ip` | |
//! | destPort | supported | `dest_port` | |
//! | respCode | supported | `response_codes` | of RADIUS: `rad_codes` |
//! | httpRequest | supported | `request` | |
//! | customHeaders | supported | `custom_headers` | a table, or lines as NetScaler has them |
//! | action | supported | `action` | of HTTP-INLINE |
//! | send | supported | `send` | bytes by `\xHH` |
//! | recv | supported | `receive` | |
//! | trofsCode | supported | `trofs_code` | |
//! | trofsString | supported | `trofs_string` | |
//! | query | supported | `query` | |
//! | queryType | supported | `query_type` | |
//! | IPAddress | supported | `ip_address` | |
//! | scriptName | supported | `script_name` | any executable in the folder `scripts` of `[monitors]` |
//! | scriptArgs | supported | `script_args` | as they are, without a shell; and `environment`, `memory`, `cpu_time`, `file_size`, `open_files` |
//! | userName | supported | `user_name` | |
//! | password | supported | `password` | from a file or the environment, never in the text |
//! | database | supported | `database` | |
//! | sqlQuery | supported | `sql_query` | and `sql_expect`, in place of evalRule |
//! | baseDN | supported | `base_dn` | |
//! | bindDN | supported | `bind_dn` | |
//! | filter | supported | `filter` | RFC 4515 without extensible matches |
//! | attribute | supported | `attribute` | |
//! | radKey | supported | `rad_key` | from a file or the environment |
//! | radNASip | supported | `rad_nas_ip` | |
//! | fileName | supported | `file_name` | of FTP-EXTENDED |
//! | group | supported | `group` | of NNTP |
//! | mqttClientIdentifier | supported | `mqtt_client_identifier` | |
//! | grpcServiceName | supported | `grpc_service_name` | |
//! | metricThreshold | supported | `load_threshold` | of LOAD, which reads one number over HTTP: `json_pointer` |
//! | transparent | refused | `transparent` | probes by MAC address of devices in the path; there are none here |
//! | ipTunnel | refused | `ip_tunnel` | no tunnels |
//! | tos | refused | `tos` | probes carry no type of service |
//! | tosId | refused | `tos_id` | as above |
//! | netProfile | refused | `net_profile` | probes leave from the address that the routing table chooses |
//! | sslProfile | refused | `ssl_profile` | `secure`, `verify` and `server_name` say how TLS is spoken |
//! | dispatcherIP | refused | `dispatcher_ip` | there is no dispatcher between the monitor and its script |
//! | dispatcherPort | refused | `dispatcher_port` | as above |
//! | secureargs | refused | `secure_args` | secrets reach a script through `environment` |
//! | evalRule | refused | `eval_rule` | `sql_expect` compares the first value |
//! | domain | refused | `domain` | of Citrix types, which are stored alone |
//! | validateCred | refused | `validate_cred` | as above |
//! | secondaryPassword | refused | `secondary_password` | as above |
//! | logonpointName | refused | `logon_point_name` | as above |
//! | lasVersion | refused | `las_version` | as above |
//! | application | refused | `application` | as above |
//! | sitePath | refused | `site_path` | as above |
//! | storename | refused | `store_name` | as above |
//! | storefrontacctservice | refused | `storefront_acct_service` | as above |
//! | storefrontcheckbackendservices | refused | `storefront_check_backend_services` | as above |
//! | hostName | refused | `host_name` | as above |
//! | kcdAccount | refused | `kcd_account` | as above |
//! | storedb | refused | `store_db` | a list of databases to watch; bind one monitor for each |
//! | oracleSid | refused | `oracle_sid` | ORACLE-ECV is stored alone: the protocol is not published |
//! | mssqlProtocolVersion | refused | `mssql_protocol_version` | MSSQL-ECV is stored alone |
//! | Snmpoid | refused | `snmp_oid` | SNMP is stored alone; a USER script can ask for a value |
//! | snmpCommunity | refused | `snmp_community` | as above |
//! | snmpThreshold | refused | `snmp_threshold` | as above |
//! | snmpVersion | refused | `snmp_version` | as above |
//! | metricTable | refused | `metric_table` | metrics by SNMP; LOAD asks over HTTP |
//! | metric | refused | `metric` | as above |
//! | metricWeight | refused | `metric_weight` | as above |
//! | rtspRequest | refused | `rtsp_request` | RTSP is stored alone; TCP-ECV can send a request |
//! | sipMethod | refused | `sip_method` | SIP is stored alone; UDP-ECV and TCP-ECV can send a request |
//! | sipURI | refused | `sip_uri` | as above |
//! | sipregURI | refused | `sip_reg_uri` | as above |
//! | maxForwards | refused | `max_forwards` | as above |
//! | radNASid | refused | `rad_nas_id` | without `rad_nas_ip` it is `bascule` |
//! | radAccountType | refused | `rad_account_type` | a sample of RADIUS_ACCOUNTING is a Start and a Stop |
//! | radFramedIP | refused | `rad_framed_ip` | such attributes are not sent |
//! | radAPN | refused | `rad_apn` | as above |
//! | radMSISDN | refused | `rad_msisdn` | as above |
//! | radAccountSession | refused | `rad_account_session` | every sample has its own |
//! | mqttVersion | refused | `mqtt_version` | 3.1.1 is spoken, which brokers of version 5 take as well |
//! | grpcHealthCheck | refused | `grpc_health_check` | GRPC is the health check |
//! | grpcStatusCode | refused | `grpc_status_code` | SERVING with status 0 passes |
//! | originHost | refused | `origin_host` | DIAMETER is stored alone |
//! | originRealm | refused | `origin_realm` | as above |
//! | hostIPAddress | refused | `host_ip_address` | as above |
//! | vendorId | refused | `vendor_id` | as above |
//! | productName | refused | `product_name` | as above |
//! | firmwareRevision | refused | `firmware_revision` | as above |
//! | authApplicationId | refused | `auth_application_id` | as above |
//! | acctApplicationId | refused | `acct_application_id` | as above |
//! | inbandSecurityId | refused | `inband_security_id` | as above |
//! | supportedVendorIds | refused | `supported_vendor_ids` | as above |
//! | vendorSpecificVendorId | refused | `vendor_specific_vendor_id` | as above |
//! | vendorSpecificAuthApplicationIds | refused | `vendor_specific_auth_application_ids` | as above |
//! | vendorSpecificAcctApplicationIds | refused | `vendor_specific_acct_application_ids` | as above |
//!
//! ## server
//!
//! `[server.NAME]`
//!
//! | parameter | | here | remark |
//! |---|---|---|---|
//! | name | supported | `[server.NAME]` | |
//! | IPAddress | supported | `address` | IPv4 or IPv6 |
//! | domain | supported | `address` | a host name; looked up beside traffic at its TTL, and followed when it moves, see [`members`](super::members) |
//! | delay, graceFul | supported | `disable server` | acts on the running appliance, not configuration: they outlive a restart |
//! | state | refused | `state` | whether a server is disabled is state: `disable server` |
//! | comment | stored | `comment` | |
//! | ipv6Address | refused | `ipv6_address` | `query_type = "AAAA"` |
//! | queryType | supported | `query_type` | A, AAAA or SRV (in groups with `auto_scale`); without it A, and AAAA where there is no A |
//! | domainResolveRetry | supported | `domain_resolve_retry` | after a failure; otherwise the TTL counts |
//! | domainResolveNow | refused | `domain_resolve_now` | a reload asks for names that are new, and the TTL is kept |
//! | translationIp | refused | `translation_ip` | the address in DNS is the one that is used |
//! | translationMask | refused | `translation_mask` | as above |
//! | td | refused | `td` | no traffic domains |
//! | Internal | refused | `internal` | there are no hidden servers |
//!
//! ## GSLB and DNS
//!
//! They have no tables of their own in the TOML: what they become stands in [`import`](super::import), how they are made one by one
//! and what is refused in [`nitro`](super::nitro). Supported, each with the values that mean something here:
//!
//! - `gslb site`: siteType LOCAL or REMOTE, siteIPAddress (kept and told; nothing connects to it).
//! - `gslb service`: IP or serverName, serviceType, port, cnameEntry, publicIP, siteName, healthMonitor, monThreshold;
//!   `bind gslb service`: monitorName, weight, monState.
//! - `gslb vserver`: serviceType, dnsRecordType A, AAAA or CNAME, lbMethod ROUNDROBIN or SOURCEIPHASH, backupVServer,
//!   disablePrimaryOnDown, considerEffectiveState, MIR, EDR; `bind gslb vserver`: serviceName with weight, domainName with TTL
//!   and backupIP.
//! - `dns zone`: proxyMode NO. `dns soaRec`: originServer, contact, serial, refresh, retry, expire, minimum, TTL. Records: their
//!   data and TTL.
//!
//! Their other parameters are taken with the value that NetScaler has anyway, and refused with any other.
