import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import type { Call } from './durable-server.ts'

/** The address of the webhooks of the earlier server, where nobody listened. */
export const NOBODY = 'http://127.0.0.1:9/hook'

export const SECRETS = { E2E_HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}` }

/** What one server left open: the request of each run, and how far a client had followed the first of each kind. */
export interface LeftWork {
  readonly token: string
  readonly started: readonly Started[]
  readonly chats: readonly { readonly id: string; readonly text: string }[]
  readonly followed: readonly { readonly runId: string; readonly lastEventId: string }[]
}

export interface Started {
  readonly kind: string
  readonly n: number
  readonly runId: string
  readonly key: string
}

interface Kind {
  readonly kind: string
  /** The path below the API that starts the run. */
  readonly path: string
  /** Further members of the request. */
  readonly more?: (untilMs: number, n: number) => object
  readonly input?: (n: number, untilMs: number) => object
  /** The result of the run. */
  readonly result: (n: number) => unknown
}

const APPROVED = { approved: true, by: 'e2e' }
const execute = (id: string) => `/workflows/${id}/execute`
const run = (id: string) => `/agents/${id}/run`

export const KINDS: readonly Kind[] = [
  { kind: 'quick', path: execute('quick'), result: (n) => n },
  { kind: 'approving', path: execute('approving'), result: (n) => ({ n, ...APPROVED }) },
  {
    ...{ kind: 'sleeping', path: execute('sleeping'), result: (n) => n },
    input: (n, untilMs) => ({ n, until: new Date(untilMs).toISOString() }),
  },
  { kind: 'listening', path: execute('listening'), result: (n) => ({ told: n }) },
  { kind: 'delegating', path: execute('delegating'), result: (n) => ({ child: { n, ...APPROVED } }) },
  { kind: 'working', path: execute('working'), result: (n) => n },
  { kind: 'retrying', path: execute('retrying'), result: (n) => n },
  { kind: 'spending', path: execute('spending'), result: (n) => n },
  {
    ...{ kind: 'later', path: execute('later'), result: (n) => n },
    more: (untilMs) => ({ startAt: new Date(untilMs).toISOString() }),
  },
  { kind: 'suspending', path: run('suspending'), result: (n) => ({ n, approved: [true] }) },
  { kind: 'tooling', path: run('tooling'), result: (n) => ({ ok: true, value: `deleted ${n}` }) },
  { kind: 'asking', path: run('asking'), result: (n) => ({ ok: true, value: { picked: n } }) },
  { kind: 'queueing', path: run('queueing'), result: (n) => n },
  { kind: 'attaching', path: run('attaching'), result: (n) => ({ n, written: 70_000, attached: attachmentText(n) }) },
  {
    ...{ kind: 'steered', path: run('steered'), result: (n) => ({ n, taken: [{ n, says: 'hurry' }] }) },
    more: (_, n) => ({ sessionId: `steered-${n}` }),
  },
  {
    // The run ahead of it takes its message.
    ...{ kind: 'steering', path: run('steered'), result: () => undefined },
    input: (n) => ({ n, says: 'hurry' }),
    more: (_, n) => ({ sessionId: `steered-${n}`, onBusy: 'steer' }),
  },
]

export const attachmentText = (n: number): string => `attachment ${n}`

/** Repeats the request that started the run, and returns the id of its run. */
export async function start(call: Call, { path, more, input }: Kind, n: number, key: string, untilMs: number) {
  const body = { input: input?.(n, untilMs) ?? { n }, ...more?.(untilMs, n) }
  const headers = { 'idempotency-key': key, prefer: 'respond-async' }
  const { status, body: answer } = await call('POST', path, { body, headers })
  if (status !== 202 && status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`)
  return answer.runId
}

export const openGate = (dir: string): void => writeFileSync(join(dir, 'gate-open'), '')

const GOLDEN = join(import.meta.dirname, 'golden')

export const openWorkFile = (version: number): string => join(GOLDEN, `open-work-${version}.tar.br`)

/** The files of all releases whose work `make-open-work.ts` has stored. */
export const openWorkFiles = (): readonly string[] =>
  readdirSync(GOLDEN).filter((name) => /^open-work-\d+\.tar\.br$/.test(name))

/** Without what a start makes again. The write-ahead log repeats pages, which only a large window finds. */
export function packFolder(folder: string, file: string): void {
  const left = ['--exclude=*.ballast', '--exclude=*.lock', '--exclude=*-shm']
  const tar = execFileSync('tar', ['-cf', '-', ...left, '-C', folder, '.'], { maxBuffer: 2 ** 28 })
  writeFileSync(file, brotliCompressSync(tar, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } }))
}

export function unpackFolder(name: string, folder: string): void {
  const input = brotliDecompressSync(readFileSync(join(GOLDEN, name)))
  execFileSync('tar', ['-xf', '-', '-C', folder], { input })
}

export const leftPath = (dir: string): string => join(dir, 'left.json')
export const readLeft = (dir: string): LeftWork => JSON.parse(readFileSync(leftPath(dir), 'utf8')) as LeftWork
