import { once } from 'node:events'
import { expect } from 'vitest'
import { WebSocket } from 'ws'
import type { RunningServer } from './perdure-process.ts'
import { residentMiB } from './resident-mib.ts'

/** The environment of a server whose inspector can be started by a signal; it then listens on an unused port. */
export const INSPECTABLE = { NODE_OPTIONS: '--inspect-port=0' }

/**
 * Returns the resident memory of an inspectable server in MiB, after V8 has collected all garbage and returned its free
 * pages. V8 otherwise keeps up to 230 MiB that nothing uses.
 */
export async function residentAfterCollection(server: RunningServer): Promise<number> {
  await collectGarbage(server)
  return residentMiB(server.process.pid)
}

async function collectGarbage({ process, stderr }: RunningServer): Promise<void> {
  const addressOf = () => /Debugger listening on (ws:\S+)/.exec(stderr())?.[1] ?? ''
  process.kill('SIGUSR1')
  await expect.poll(addressOf).not.toBe('')
  const inspector = new WebSocket(addressOf())
  await once(inspector, 'open')
  inspector.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }))
  const [answer] = await once(inspector, 'message')
  expect(JSON.parse(String(answer))).toEqual({ id: 1, result: {} })
  inspector.close()
  await once(inspector, 'close')
}

/** The text without the lines that Node.js writes to stderr when the inspector starts, is used or is no longer used. */
export const withoutInspectorLines = (stderr: string): string =>
  stderr.replaceAll(/^(?:Debugger |For help, see: https:\/\/nodejs).*\n/gm, '')
