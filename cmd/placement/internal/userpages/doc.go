// SPDX-License-Identifier: Apache-2.0

// Package userpages is what placement dashboard does: it serves the pages of a hub or of a snapshot to the user of the command.
package userpages
