// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/placement-hub/placement-hub/test/release/image"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// options are the flags of all commands.
type options struct {
	root            string
	version, commit string
	created         int64
	out             string
	tag             string
	architectures   string
	binaries        map[string]string
	key, publicKey  string
	rebuild         bool

	progress io.Writer
	texts    map[string][]byte // of licenses, once they are read
}

func run(ctx context.Context, arguments []string, stdout, stderr io.Writer) error {
	commands := map[string]func(context.Context, *options, io.Writer) error{
		"image": buildImage, "push": push, "collect": collect, "verify": verify,
	}
	if len(arguments) == 0 || commands[arguments[0]] == nil {
		return errors.New("name a command: image, push, collect or verify")
	}
	o := &options{binaries: map[string]string{}, progress: stderr}
	flags := flag.NewFlagSet("release "+arguments[0], flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.root, "root", ".", "the `directory` of the sources")
	flags.StringVar(&o.version, "version", "dev", "the version")
	flags.StringVar(&o.commit, "commit", "unknown", "the commit")
	flags.Int64Var(&o.created, "created", 0, "the time of the commit, in `seconds` since 1970")
	flags.StringVar(&o.out, "directory", "dist", "the `directory` to write to, or to read from")
	flags.StringVar(&o.tag, "image", "placement-hub:dev", "the `name` of the image")
	flags.StringVar(&o.architectures, "architectures", "amd64,arm64", "the architectures of the image")
	flags.StringVar(&o.key, "key", "", "sign with the ECDSA P-256 key in this PEM `file`")
	flags.StringVar(&o.publicKey, "public-key", "", "check the signature with the public key in this PEM `file`")
	flags.BoolVar(&o.rebuild, "rebuild", false, "build the image again from the sources, and compare its digest")
	flags.Func("binary", "take the binary of an architecture from a file instead of building it: `amd64=file`", func(value string) error {
		architecture, file, ok := strings.Cut(value, "=")
		if !ok {
			return errors.New("must be architecture=file")
		}
		o.binaries[architecture] = file
		return nil
	})
	if err := flags.Parse(arguments[1:]); err != nil {
		return fmt.Errorf("flags: %w", err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return commands[arguments[0]](ctx, o, stdout)
}

func (o *options) printf(format string, arguments ...any) {
	fmt.Fprintf(o.progress, "    "+format+"\n", arguments...)
}

// buildImage builds the image, and prints its digest.
func buildImage(ctx context.Context, o *options, stdout io.Writer) error {
	built, err := o.image(ctx)
	if err != nil {
		return err
	}
	digest, err := built.Digest()
	if err != nil {
		return fmt.Errorf("computing the digest: %w", err)
	}
	if err := image.Save(o.out, o.tag, built); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(stdout, digest); err != nil {
		return fmt.Errorf("printing the digest: %w", err)
	}
	return nil
}

// push pushes a layout that was built, and prints the reference with the digest.
func push(ctx context.Context, o *options, stdout io.Writer) error {
	built, err := image.Open(o.out)
	if err != nil {
		return fmt.Errorf("%w; run make image first", err)
	}
	reference, err := image.Push(ctx, o.tag, built)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(stdout, reference); err != nil {
		return fmt.Errorf("printing the reference: %w", err)
	}
	return nil
}

func (o *options) time() time.Time { return time.Unix(o.created, 0).UTC() }
