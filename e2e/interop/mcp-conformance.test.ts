import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSandbox, type RunningServer, startServer } from '../perdure-process.ts'

const CONFIG = join(import.meta.dirname, '../fixtures/mcp-conformance.config.mjs')
const require = createRequire(import.meta.url)
const SUITE = require.resolve('@modelcontextprotocol/conformance/dist/index.js')
const NEXT_SUITE = require.resolve('mcp-conformance-next/dist/index.js')
const run = promisify(execFile)

let server: RunningServer
beforeAll(async () => {
  server = await startServer(createSandbox(), ['server', '--config', CONFIG])
})
afterAll(() => server.kill('SIGKILL'))

/** Runs an official suite. It fails for a scenario that fails and is not in the list, and for one that is and passes. */
async function suite(path: string, scenarios: readonly string[], list: string): Promise<string> {
  const expected = join(import.meta.dirname, list)
  const args = ['server', '--url', `${server.url}/mcp`, ...scenarios, '--expected-failures', expected]
  const ended = run(process.execPath, [path, ...args], { cwd: createSandbox().dir, maxBuffer: 2 ** 26 })
  return ended.then(
    ({ stdout }) => stdout,
    ({ stdout }: { readonly stdout: string }) => stdout,
  )
}

describe('the conformance suites of MCP', () => {
  it('find only the expected failures in the versions with a handshake', { timeout: 300_000 }, async () => {
    const report = await suite(SUITE, ['--suite', 'active'], 'mcp-conformance.yml')
    expect(report).toContain('Baseline check passed')
    expect(report).toContain('✓ tools-call-elicitation: 1 passed, 0 failed')
  })

  it('find only the expected failures in the version without a handshake', { timeout: 300_000 }, async () => {
    const version = ['--suite', 'all', '--spec-version', '2026-07-28']
    const report = await suite(NEXT_SUITE, version, 'mcp-conformance-next.yml')
    expect(report).toContain('Baseline check passed')
    expect(report).toMatch(/✓ http-header-validation: \d+ passed, 0 failed/)
  })

  // The others are skipped by the suite, or need tools that exist only as tasks or ask questions with a form of their own.
  it.concurrent.each([
    'tasks-lifecycle',
    'tasks-capability-negotiation',
    'tasks-wire-fields',
    'tasks-request-state-removal',
    'tasks-request-headers',
    'tasks-dispatch-and-envelope',
  ])('find only the expected failures in the extension for tasks: %s', { timeout: 300_000 }, async (scenario) => {
    const report = await suite(NEXT_SUITE, ['--scenario', scenario, '--force'], 'mcp-conformance-tasks.yml')
    const failed = report.split('\n').filter((line) => line.includes('FAILURE'))
    expect(report).toContain('SUCCESS')
    expect(failed.filter((line) => !line.includes('sep-2663-tasks-get-status-failed'))).toEqual([])
  })
})
