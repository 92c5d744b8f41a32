// SPDX-License-Identifier: Apache-2.0

// Package federation has the specs of docs/spec/federated-selector.md on real members: three API servers with OCM's work agent.
package federation
