// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/build"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
)

func newVersionCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this binary and of the APIs it was built with",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printVersion(cmd.OutOrStdout(), output, build.This())
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "Output format: text, json or yaml.")
	return cmd
}

func printVersion(out io.Writer, format string, v build.Info) error {
	var text []byte
	var err error
	switch format {
	case "text":
		text = v.Text()
	case "json":
		text, err = json.MarshalIndent(v, "", "  ")
		text = append(text, '\n')
	case "yaml":
		text, err = yaml.Marshal(v)
	default:
		return exit.Mistake(fmt.Errorf("--output: unknown format %q; use text, json or yaml", format))
	}
	if err != nil {
		return fmt.Errorf("encoding the version as %s: %w", format, err)
	}
	if _, err := out.Write(text); err != nil {
		return fmt.Errorf("printing the version: %w", err)
	}
	return nil
}
