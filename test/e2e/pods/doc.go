// SPDX-License-Identifier: Apache-2.0

// Package pods has the end-to-end tests of where Pods may run: `placement run --sample=pods`, and the webhooks of every replica.
package pods
