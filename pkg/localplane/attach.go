// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"fmt"
	"os"
)

// Running says where a running control plane is, for Attach in another process.
type Running struct {
	DataDir string `json:"dataDir"`
	URL     string `json:"url"` // of the API server
	EtcdURL string `json:"etcdURL"`
	// AuditOffset is the length of the audit log in bytes, or -1 without Options.AuditLog. Audit and Writes return what is logged after it.
	AuditOffset int64 `json:"auditOffset"`
}

// Running returns where c is.
func (c *ControlPlane) Running() (Running, error) {
	r := Running{DataDir: c.directory.path, URL: c.url, EtcdURL: c.etcdURL, AuditOffset: -1}
	if !c.options.AuditLog {
		return r, nil
	}
	info, err := os.Stat(c.directory.file(auditFile))
	if err != nil {
		return Running{}, fmt.Errorf("looking at the audit log: %w", err)
	}
	r.AuditOffset = info.Size()
	return r, nil
}

// Attach returns a control plane that another process has started and will stop. Its Stop stops what AnotherAPIServer has started, and
// nothing else; Crash is an error.
func Attach(r Running) (*ControlPlane, error) {
	c := &ControlPlane{
		directory: &dataDirectory{path: r.DataDir}, attached: true, prefix: defaultPrefix, prefixes: []string{defaultPrefix},
		url: r.URL, etcdURL: r.EtcdURL, auditRead: r.AuditOffset, auditStart: r.AuditOffset, stopping: make(chan struct{}),
	}
	c.options.AuditLog = r.AuditOffset >= 0

	var err error
	if c.authority, err = ensureAuthority(c.directory); err != nil {
		return nil, err
	}
	if c.admin, err = c.UserConfig(adminUser, adminGroup); err != nil {
		return nil, err
	}
	return c, nil
}
