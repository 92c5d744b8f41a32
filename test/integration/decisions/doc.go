// SPDX-License-Identifier: Apache-2.0

// Package decisions holds the specs of PlacementDecisions: groups, pages, owners, order, status, events and the removal budget.
package decisions
