// SPDX-License-Identifier: Apache-2.0

// Package placement holds the specs of selection: cluster sets, predicates, taints, prioritizers and spread constraints.
package placement
