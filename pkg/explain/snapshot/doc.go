// SPDX-License-Identifier: Apache-2.0

// Package snapshot writes what the tools read of a hub as YAML documents, which they read again as files.
//
// The first document is the Header: which kinds were read and in which resourceVersion, which ones the user could not read, and which
// controllers the hub runs. The objects follow as the API server has returned them, with managedFields and status. The data of Secrets and
// ConfigMaps is left out, also inside of ManifestWorks, and so are the environment, command and arguments of containers.
//
// Take sends list requests of at most 500 objects as its user, and writes nothing. A missing right is no error but an entry of Header.Unread.
//
// The package never opens a file and never reads a clock.
package snapshot
