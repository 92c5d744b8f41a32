// SPDX-License-Identifier: Apache-2.0

// Package federation has the end-to-end tests of `placement run --sample=federation`, which starts members with work agents.
package federation
