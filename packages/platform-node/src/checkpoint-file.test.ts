import { verify } from 'node:crypto'
import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AuditCheckpoint, AuditKeys, EpochMs } from '@perdure/ports'
import { checkpointLogContract } from '@perdure/testkit'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createCheckpointFile } from './checkpoint-file.ts'

const root = mkdtempSync(join(tmpdir(), 'perdure-checkpoints-'))
afterAll(() => rmSync(root, { recursive: true }))

const KEYS: AuditKeys = [Buffer.from('current')]
let path: string
let files = 0
beforeEach(() => {
  path = join(root, `dir-${files++}`, 'checkpoints')
})

const checkpoint = (seq: number): AuditCheckpoint => ({
  seq,
  hash: seq.toString(16).padStart(64, '0'),
  at: (1_700_000_000_000 + seq) as EpochMs,
})

const replaceByCopy = () => {
  copyFileSync(path, `${path}-new`)
  renameSync(`${path}-new`, path)
}

const readAll = async (keys = KEYS) => {
  const lines = []
  for await (const { checkpoint } of createCheckpointFile({ path, keys }).read()) lines.push(checkpoint?.seq)
  return lines
}

async function fill(...seqs: number[]): Promise<void> {
  const file = createCheckpointFile({ path, keys: KEYS })
  for (const seq of seqs) await file.append(checkpoint(seq))
}

checkpointLogContract({
  name: 'file',
  open: async () => createCheckpointFile({ path: join(root, `log-${files++}`), keys: KEYS }),
  clear: async () => rmSync(join(root, `log-${files - 1}`)),
})

describe('createCheckpointFile', () => {
  it('returns signed checkpoints in order and keeps the file private to its owner', async () => {
    await fill(1_000, 2_000)

    const lines = []
    for await (const line of createCheckpointFile({ path, keys: KEYS }).read()) lines.push(line)
    expect(lines).toEqual([
      { number: 1, checkpoint: checkpoint(1_000) },
      { number: 2, checkpoint: checkpoint(2_000) },
    ])
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it.each<[string, () => void]>([
    ['deleted', () => rmSync(path)],
    ['replaced by a copy of itself', () => replaceByCopy()],
    ['cut', () => truncateSync(path, 100)],
  ])('is no longer intact when its file is %s, also after the next checkpoint', async (_, change) => {
    await fill(1, 2)
    const file = createCheckpointFile({ path, keys: KEYS })
    for await (const _line of file.read());
    expect(await file.isIntact()).toBe(true)

    change()

    await file.append(checkpoint(3))
    expect(await file.isIntact()).toBe(false)
  })

  it('stays intact when it removes a partial line that a crash left', async () => {
    await fill(1)
    appendFileSync(path, 'perdure.audit 2 partial')
    const file = createCheckpointFile({ path, keys: KEYS })
    for await (const _line of file.read());

    await file.append(checkpoint(2))

    expect(await file.isIntact()).toBe(true)
    expect(await readAll()).toEqual([1, 2])
  })

  it('yields no lines before the first checkpoint', async () => {
    expect(await readAll()).toEqual([])
  })

  it('writes signed notes that a third party can verify with the verifier key', async () => {
    await fill(7)
    const [note = '', signature = ''] = readFileSync(path, 'utf8').trimEnd().split(' — perdure.audit ')
    const { verifierKey } = createCheckpointFile({ path, keys: KEYS })
    const [, id = '', encoded = ''] = /^perdure\.audit\+([0-9a-f]{8})\+(.+)$/.exec(verifierKey) ?? []
    const x = Buffer.from(encoded, 'base64').subarray(1).toString('base64url')
    const bytes = Buffer.from(signature, 'base64')

    expect(bytes.subarray(0, 4).toString('hex')).toBe(id)
    expect(
      verify(
        null,
        Buffer.from(`${note.replaceAll(' ', '\n')}\n`),
        {
          key: { kty: 'OKP', crv: 'Ed25519', x },
          format: 'jwk',
        },
        bytes.subarray(4),
      ),
    ).toBe(true)
  })

  it('accepts lines signed by an earlier key and rejects lines signed by an unknown key', async () => {
    await fill(1)

    expect(await readAll([Buffer.from('new'), ...KEYS])).toEqual([1])
    expect(await readAll([Buffer.from('stranger')])).toEqual([undefined])
  })

  it.each([
    ['a different size', (line: string) => line.replace(' 1 ', ' 2 ')],
    ['a different time', (line: string) => line.replace('2023', '2024')],
    ['a different hash', (line: string) => line.replace('AAAE=', 'AAAI=')],
    ['garbage', () => 'garbage\n'],
    ['a very long line', () => `${'x'.repeat(200_000)}\n`],
  ])('rejects a line with %s', async (_, change) => {
    await fill(1, 2)
    const [first = '', second = ''] = readFileSync(path, 'utf8').split(/(?<=\n)/)
    expect(change(first)).not.toBe(first)
    writeFileSync(path, change(first) + second)

    expect(await readAll()).toEqual([undefined, 2])
  })

  it('ignores a partial line left by a crash and appends after the last complete line', async () => {
    await fill(1)
    appendFileSync(path, 'perdure.audit 2 AAAA')
    expect(await readAll()).toEqual([1])

    await fill(3)
    expect(await readAll()).toEqual([1, 3])
  })
})
