import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const patterns = ['*.ts', '*.mjs', '*.cjs']
const sources = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', ...patterns], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '')

/** The files that may use `JSON.parse`, with the text that they parse. */
const JSON_PARSE = {
  'packages/core/src/audit/audit-resource.ts': 'entries of the audit, which the server wrote',
  'packages/core/src/audit/check-link.ts': 'entries of the audit, whose hash is checked',
  'packages/core/src/idempotency/first-use.ts': 'marks that the server wrote',
  'packages/core/src/targets/describe-schema.ts': 'the copy of a value',
  'packages/core/src/triggers/declare-triggers.ts': 'definitions that the server wrote',
  'packages/interop/src/mcp/tool-calls.ts': 'blocks that the server wrote',
  'packages/mcp/src/parse-headers.ts': 'a secret of the operator',
  'packages/mcp/src/stdio-transport.ts': 'messages of a server that the operator has chosen',
  'packages/ports/src/values/json-scan.ts': 'text that was scanned before',
  'packages/ports/src/values/json-text.ts': 'text that the server wrote',
  'packages/ports/src/values/strict-json.ts': 'text that was scanned before',
}

describe('a source file', () => {
  it('has at most 300 lines', () => {
    const long = sources.filter((path) => readFileSync(join(root, path), 'utf8').split('\n').length > 301)

    expect(sources.length).toBeGreaterThan(100)
    expect(long.filter((path) => !/\.test\.ts$/.test(path))).toEqual([])
  })

  it('parses text that a client, a model or a tool has sent with the strict parser', () => {
    const parses = sources
      .filter((path) => /^packages\/(?:core|http|interop|mcp|ports|realtime)\/src\//.test(path))
      .filter((path) => !/\.test\.ts$|\.fixture\.ts$/.test(path))
      .filter((path) => readFileSync(join(root, path), 'utf8').includes('JSON.parse('))

    expect(parses.sort()).toEqual(Object.keys(JSON_PARSE))
  })

  it('registers no hook when it is loaded, unless it is a test: a process that executes several test files loads it once', () => {
    const hook = /^(?:before|after)(?:All|Each)\(/m
    const hooked = sources.filter((path) => hook.test(readFileSync(join(root, path), 'utf8')))

    expect(hooked.length).toBeGreaterThan(50)
    // Vitest executes a setup file before each test file.
    expect(hooked.filter((path) => !/\.test\.ts$/.test(path))).toEqual(['tooling/undeclared-errors.ts'])
  })

  it('names no package registry host', () => {
    for (const lock of ['pnpm-lock.yaml', '.ci/packages/package-lock.json'])
      expect(readFileSync(join(root, lock), 'utf8')).not.toMatch(/https?:\/\//)
  })
})
