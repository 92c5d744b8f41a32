// SPDX-License-Identifier: Apache-2.0

// Package clusterprovider has the specs of the loopback provider: API servers that it starts, restarts and tears down on a real etcd, and
// what users see of them on the hub.
package clusterprovider
