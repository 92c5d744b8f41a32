// SPDX-License-Identifier: Apache-2.0

// Package logging configures the log of the process: the format of klog, and the level of what controller-runtime logs.
package logging
