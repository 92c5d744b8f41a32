// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/pkg/localplane/process"
)

// startEtcd starts etcd on the data of the directory, and records its client URL.
func (c *ControlPlane) startEtcd(ctx context.Context) error {
	name := etcdName(c.directory.path)
	server := server{
		name: binaries.Etcd,
		launch: func(port int) (*process.Process, error) {
			return process.Start(process.Command{
				Name:    binaries.Etcd,
				Path:    c.assets.Etcd,
				Args:    etcdArgs(name, c.directory, port),
				LogPath: c.directory.file("etcd.log"),
			})
		},
		ready: func(ctx context.Context, port int) error { return etcdReady(ctx, etcdURL(port), name) },
	}
	started, port, err := c.start(ctx, server)
	if err != nil {
		return err
	}
	c.etcd, c.etcdURL = started, etcdURL(port)
	server.preferred, server.fixed = port, true
	c.etcdServer = server
	return nil
}

func etcdURL(port int) string { return "http://" + address(port) }

// etcdName returns the member name for a data directory. It distinguishes this etcd from that of another control plane that may have taken
// the same port between its choice and its use.
func etcdName(directory string) string {
	hash := fnv.New64a()
	hash.Write([]byte(directory)) // never fails (hash.Hash)
	return fmt.Sprintf("placement-hub-%016x", hash.Sum64())
}

func etcdArgs(name string, d *dataDirectory, port int) []string {
	arguments := []string{
		"--name=" + name,
		"--data-dir=" + d.file("etcd"),
		"--listen-client-urls=" + etcdURL(port),
		"--advertise-client-urls=" + etcdURL(port),
		"--listen-peer-urls=http://" + address(0), // it has no peers
	}
	if d.temporary {
		arguments = append(arguments, "--unsafe-no-fsync")
	}
	return arguments
}

// etcdReady returns nil if the cluster has a single member with this name.
func etcdReady(ctx context.Context, url, name string) error {
	body, err := exchange(ctx, plainClient, http.MethodPost, url+"/v3/cluster/member/list", "{}")
	if err != nil {
		return err
	}
	var list struct {
		Members []struct {
			Name string `json:"name"`
		} `json:"members"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return fmt.Errorf("reading the members of etcd: %w", err)
	}
	if len(list.Members) != 1 || list.Members[0].Name != name {
		return fmt.Errorf("etcd at %s has the members %v, not %q alone", url, list.Members, name)
	}
	return nil
}

// DeleteKeys deletes the keys below a prefix in an etcd that others run, so that the API server of StartAPIServer with that prefix, which has
// to be stopped, loses all objects. etcd has the client URLs of the members, of which one has to answer. It returns how many keys there were.
func DeleteKeys(ctx context.Context, etcd []string, prefix string) (int64, error) {
	// The keys from "<prefix>/" to before "<prefix>0", the next byte; the keys of "<prefix>2" are others.
	const below, end = "/", "0"
	body, err := json.Marshal(map[string][]byte{"key": []byte(prefix + below), "range_end": []byte(prefix + end)})
	if err != nil {
		return 0, fmt.Errorf("deleting the keys below %s: %w", prefix, err)
	}
	var errs []error
	for _, url := range etcd {
		response, err := exchange(ctx, plainClient, http.MethodPost, url+"/v3/kv/deleterange", string(body))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		var result struct {
			Deleted int64 `json:"deleted,string"`
		}
		if err := json.Unmarshal(response, &result); err != nil {
			return 0, fmt.Errorf("deleting the keys below %s: reading the answer of etcd: %w", prefix, err)
		}
		return result.Deleted, nil
	}
	return 0, fmt.Errorf("deleting the keys below %s: %w", prefix, errors.Join(errs...))
}
