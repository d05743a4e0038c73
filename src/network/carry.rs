//! Netlink: what the machine has, what changes, and the acts that change it.

use std::collections::HashSet;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use futures_util::TryStreamExt;
use parking_lot::Mutex;
use rtnetlink::packet_core::NetlinkPayload;
use rtnetlink::packet_route::RouteNetlinkMessage;
use rtnetlink::packet_route::address::{AddressAttribute, AddressFlags, AddressMessage, AddressProtocol, CacheInfo};
use rtnetlink::packet_route::link::{LinkAttribute, LinkFlags, LinkLayerType, LinkMessage};
use rtnetlink::{AddressMessageBuilder, Error, Handle, LinkUnspec, MulticastGroup};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::machine::{Assigned, Link, Mac, Machine};
use crate::model::network::{ADDRESS_MARK, InterfaceAddress};

/// No end of an address's life.
const FOREVER: u32 = u32::MAX;

/// A connection to the kernel.
pub(super) struct Netlink {
    handle: Handle,
    tasks: [JoinHandle<()>; 2],
    /// Links that were told to be down since the last look: what goes and comes back between two looks shows in neither.
    fell: Arc<Mutex<HashSet<u32>>>,
}

// === impl Netlink ===

impl Netlink {
    /// The receiver hears that something about links or addresses has changed: one word for any number of changes.
    pub fn open() -> io::Result<(Netlink, mpsc::Receiver<()>)> {
        let groups = [MulticastGroup::Link, MulticastGroup::Ipv4Ifaddr, MulticastGroup::Ipv6Ifaddr];
        let (connection, handle, mut messages) = rtnetlink::new_multicast_connection(&groups)?;
        let (changed, changes) = mpsc::channel(1);
        let connection = tokio::spawn(connection);
        let fell = Arc::<Mutex<HashSet<u32>>>::default();
        let into = Arc::clone(&fell);
        let telling = tokio::spawn(async move {
            while let Some((message, _)) = futures_util::StreamExt::next(&mut messages).await {
                if let NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewLink(message)) = message.payload
                    && !is_up(message.header.flags)
                {
                    into.lock().insert(message.header.index);
                }
                // Full: it is said already.
                let _ = changed.try_send(());
            }
        });
        Ok((Netlink { handle, tasks: [connection, telling], fell }, changes))
    }

    pub async fn look(&self) -> io::Result<Machine> {
        // Before the look: what falls meanwhile is told by the next one.
        let fell = std::mem::take(&mut *self.fell.lock()).into_iter().collect();
        let links: Vec<LinkMessage> = self.handle.link().get().execute().try_collect().await.map_err(io_error)?;
        let found: Vec<AddressMessage> = self.handle.address().get().execute().try_collect().await.map_err(io_error)?;
        Ok(Machine {
            links: links.iter().filter_map(link).collect(),
            fell,
            addresses: found.iter().filter_map(assigned).collect(),
        })
    }

    pub async fn set_up(&self, link: u32) -> io::Result<()> {
        let message = LinkUnspec::new_with_index(link).up().build();
        self.handle.link().set(message).execute().await.map_err(io_error)
    }

    /// With our mark. `preferred`: the system may choose it for connections of its own.
    pub async fn add(&self, link: u32, address: InterfaceAddress, preferred: bool) -> io::Result<()> {
        let mut request = self.handle.address().add(link, address.ip, address.prefix);
        let attributes = &mut request.message_mut().attributes;
        attributes.push(AddressAttribute::Protocol(AddressProtocol::Other(ADDRESS_MARK)));
        if address.ip.is_ipv6() && !preferred {
            let mut life = CacheInfo::default();
            (life.ifa_preferred, life.ifa_valid) = (0, FOREVER);
            attributes.push(AddressAttribute::CacheInfo(life));
        }
        match request.execute().await.map_err(io_error) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            done => done,
        }
    }

    pub async fn remove(&self, link: u32, address: InterfaceAddress) -> io::Result<()> {
        let message = match address.ip {
            IpAddr::V4(ip) => {
                AddressMessageBuilder::<std::net::Ipv4Addr>::new().index(link).address(ip, address.prefix).build()
            }
            IpAddr::V6(ip) => {
                AddressMessageBuilder::<std::net::Ipv6Addr>::new().index(link).address(ip, address.prefix).build()
            }
        };
        match self.handle.address().del(message).execute().await.map_err(io_error) {
            Err(error) if error.raw_os_error() == Some(libc::EADDRNOTAVAIL) => Ok(()),
            done => done,
        }
    }
}

impl Drop for Netlink {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

fn is_up(flags: LinkFlags) -> bool {
    flags.contains(LinkFlags::Up | LinkFlags::Running)
}

fn link(message: &LinkMessage) -> Option<Link> {
    let mut name = None;
    let mut mac = None;
    for attribute in &message.attributes {
        match attribute {
            LinkAttribute::IfName(text) => name = Some(text.as_str().into()),
            LinkAttribute::Address(bytes) => mac = <[u8; 6]>::try_from(&bytes[..]).ok().map(Mac),
            _ => {}
        }
    }
    let flags = message.header.flags;
    let loopback = flags.contains(LinkFlags::Loopback);
    let ethernet = message.header.link_layer_type == LinkLayerType::Ether;
    Some(Link {
        index: message.header.index,
        name: name?,
        mac,
        set_up: flags.contains(LinkFlags::Up),
        up: is_up(flags),
        loopback,
        asks: ethernet && !loopback && !flags.contains(LinkFlags::Noarp),
    })
}

fn assigned(message: &AddressMessage) -> Option<Assigned> {
    let mut flags = message.header.flags.bits().into();
    let (mut address, mut local, mut ours) = (None, None, false);
    for attribute in &message.attributes {
        match attribute {
            // Where there is a peer, the local one is ours.
            AddressAttribute::Address(ip) => address = Some(*ip),
            AddressAttribute::Local(ip) => local = Some(*ip),
            AddressAttribute::Flags(all) => flags = all.bits(),
            AddressAttribute::Protocol(AddressProtocol::Other(mark)) => ours = *mark == ADDRESS_MARK,
            _ => {}
        }
    }
    let flags = AddressFlags::from_bits_retain(flags);
    Some(Assigned {
        link: message.header.index,
        address: InterfaceAddress { ip: local.or(address)?, prefix: message.header.prefix_len },
        ours,
        tentative: flags.contains(AddressFlags::Tentative) && !flags.contains(AddressFlags::Optimistic),
        duplicate: flags.contains(AddressFlags::Dadfailed),
    })
}

fn io_error(error: Error) -> io::Error {
    match error {
        Error::NetlinkError(message) => message.to_io(),
        other => io::Error::other(other.to_string()),
    }
}
