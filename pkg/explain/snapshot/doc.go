// SPDX-License-Identifier: Apache-2.0

// Package snapshot is the format of a file with what the tools read of a hub, which they read again in place of it.
//
// The first document is the Header: which kinds were read and in which resourceVersion, which ones the user could not read, and which
// controllers the hub runs. The objects follow as the API server has returned them, with managedFields and status, but without what Redact
// removes: the data of Secrets and ConfigMaps, also inside of ManifestWorks, and the environment, command and arguments of containers.
//
// hubstate.TakeSnapshot reads one from a hub. The package sends no request, opens no file and never reads a clock.
package snapshot
