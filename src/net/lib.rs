//! The network: the policy that says where bytes may go, and the transports that obey it.

pub mod egress;
pub mod transport;
