// SPDX-License-Identifier: Apache-2.0

// Package webhook has the responses and warnings that the admission handlers of all systems share. The handlers of a system are in its package
// webhook; package webhookserver serves them.
package webhook
