// SPDX-License-Identifier: Apache-2.0

// Package deliveries is what placement federated does: it prints on which clusters the objects of a namespace are, and why not on others.
package deliveries
