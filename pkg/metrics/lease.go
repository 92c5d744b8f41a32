// SPDX-License-Identifier: Apache-2.0

package metrics

// LeaseRenewed is the time of the last renewal of the lease that this process knows of; 0 without leader election.
var LeaseRenewed = gauge(hub+"lease_renewed_timestamp_seconds",
	"When the lease of the leader was renewed last, as far as this process knows, leader or standby, in seconds since 1970; 0 without leader "+
		"election. A dead leader does not renew it.")
