#!/usr/bin/env node
// The command itself checks the version of Node.js before it loads anything. Uses only syntax that an old Node.js can parse.
import '@perdure/cli/bin'
