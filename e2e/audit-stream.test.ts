import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createSandbox, createToken, LEDGER_CONFIG, perdure, removeFolder, startServer } from './perdure-process.ts'
import { followByWebSocket } from './realtime-client.ts'

/** Slack for a busy machine. Promised: 3 s. */
const HEARD_WITHIN_MS = 3_000 * 5

/** Starts a server, and follows its audit entries over a WebSocket. */
async function followAudit(env: (dir: string) => NodeJS.ProcessEnv) {
  const { dir, env: base } = createSandbox()
  onTestFinished(() => removeFolder(dir))
  const sandbox = { dir, env: { ...base, ...env(dir) } }
  const token = await createToken(sandbox)
  const server = await startServer(sandbox)
  onTestFinished(async () => void (await server.kill('SIGKILL')))
  const subject = 'audit/events'
  const follower = followByWebSocket({ url: () => server.url, token, subject, path: '' })
  onTestFinished(() => follower.stop())
  await follower.following
  return { sandbox, follower }
}

describe('the live audit stream', () => {
  it.each<{ place: string; env: (dir: string) => NodeJS.ProcessEnv }>([
    { place: 'the main database', env: () => ({}) },
    {
      place: 'a file of its own',
      env: (dir) => ({
        PERDURE_AUDIT_ENABLED: 'true',
        PERDURE_AUDIT_PATH: join(dir, 'audit.db'),
        PERDURE_AUDIT_PASSPHRASE_REF: 'env:E2E_AUDIT',
        E2E_AUDIT: 'audit secret',
      }),
    },
  ])('delivers each entry that the command line writes beside the server to a chain in $place', async ({ env }) => {
    const { sandbox, follower } = await followAudit(env)
    const actions = () =>
      follower.received.flatMap((one) => (one.kind === 'event' ? [(one.payload as { action?: string }).action] : []))

    for (const expected of [['tokens.create'], ['tokens.create', 'tokens.create']]) {
      const create = ['token', 'create', '--name', 'beside', '--scopes', 'runs:read', '--config', LEDGER_CONFIG]
      expect((await perdure(sandbox, create)).code).toBe(0)
      const heard = () => expect(actions().filter((action) => action === 'tokens.create')).toEqual(expected)
      await vi.waitFor(heard, { timeout: HEARD_WITHIN_MS, interval: 50 })
    }
    expect(follower.connections()).toBe(1)
  })
})
