// SPDX-License-Identifier: Apache-2.0

// Package webhook holds the specs of the webhook for ManagedClusters and of the controller that taints clusters by their condition.
package webhook
