import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { toolPath } from '../tooling/machine-tools.ts'
import {
  createSandbox,
  OPS_CONFIG,
  type RunningServer,
  removeFolder,
  type Sandbox,
  startServer,
} from './perdure-process.ts'

const SERVE = ['server', '--config', OPS_CONFIG]
export const CONFIG = ['--config', OPS_CONFIG]

/** A sandbox with the database in one folder and the audit log in another. */
export function createAuditedSandbox(): Sandbox {
  const { dir, env } = createSandbox()
  onTestFinished(() => removeFolder(dir))
  return {
    dir,
    env: {
      ...env,
      PERDURE_AUTH_KIND: 'none',
      PERDURE_STORAGE_PATH: join(dir, 'main', 'data.db'),
      PERDURE_AUDIT_ENABLED: 'true',
      PERDURE_AUDIT_PATH: join(dir, 'audit', 'audit.db'),
      PERDURE_AUDIT_PASSPHRASE_REF: 'env:E2E_AUDIT',
      E2E_AUDIT: 'audit secret',
    },
  }
}

export async function start(sandbox: Sandbox): Promise<RunningServer> {
  const server = await startServer(sandbox, SERVE)
  onTestFinished(() => void server.process.kill('SIGKILL'))
  return server
}

export const ask = async (server: RunningServer, path: string, body?: unknown) => {
  const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(server.url + path, body === undefined ? {} : options)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** The id of a run that the server has acknowledged as completed. */
export async function run(server: RunningServer): Promise<string | undefined> {
  const { status, body } = await ask(server, '/agents/echo/run', { input: 'x'.repeat(500) })
  return status === 200 && body.status === 'completed' ? String(body.runId) : undefined
}

export async function runMany(server: RunningServer, count: number): Promise<readonly string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++) ids.push((await run(server)) ?? 'none')
  return ids
}

/** Starts runs until the server is gone; keeps when each was acknowledged. */
export async function runUntilGone(
  server: RunningServer,
): Promise<readonly { readonly id: string; readonly at: number }[]> {
  const acknowledged: { readonly id: string; readonly at: number }[] = []
  while (server.process.exitCode === null) {
    const id = await run(server).catch(() => undefined)
    if (id !== undefined) acknowledged.push({ id, at: Date.now() })
    else await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return acknowledged
}

export async function unhealthyAt(server: RunningServer): Promise<number> {
  await expect.poll(async () => (await ask(server, '/health/ready').catch(() => ({ status: 503 }))).status).toBe(503)
  return Date.now()
}

export const missingRuns = async (server: RunningServer, ids: readonly string[]): Promise<readonly string[]> => {
  const found = await Promise.all(ids.map(async (id) => (await ask(server, `/runs/${id}`)).body.status))
  return ids.filter((_, index) => found[index] !== 'completed')
}

export const rescuedIn = (folder: string): string | undefined => {
  const name = readdirSync(folder).find((file) => file.includes('.rescued-'))
  return name && join(folder, name)
}

export const exitOf = async (server: RunningServer): Promise<number | null> => {
  if (server.process.exitCode === null) await once(server.process, 'close')
  return server.process.exitCode
}

/** Files of both databases, relative to the sandbox. */
export const FILES = [
  'main/data.db',
  'main/data.db-wal',
  'main/data.db-shm',
  'main/data.db.lock',
  'audit/audit.db',
  'audit/audit.db-wal',
  'audit/audit.db.lock',
]

/** @throws if this process may not mount: a test names the tool `mount`, and is skipped elsewhere */
export function mount(args: readonly string[], target: string): void {
  execFileSync(toolPath('mount'), [...args])
  onTestFinished(() => {
    try {
      unmount(target, '--lazy')
    } catch {}
  })
}

export const unmount = (target: string, ...flags: readonly string[]): void =>
  void execFileSync(toolPath('umount'), [...flags, target], { stdio: 'ignore' })
