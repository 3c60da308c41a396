import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { takeLease } from './lease.ts'

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-lease-'))
  path = join(directory, 'data.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

const MODULE = new URL('./lease.ts', import.meta.url).href
const FLAGS = ['--expose-gc', '--conditions=perdure-source', '--input-type=module', '--eval']

const TRY_LEASE = `
const { takeLease } = await import(process.argv[1])
try {
  takeLease(process.argv[2])
  process.stdout.write('taken')
} catch (error) {
  process.stdout.write(error.kind)
}`

const HOLD_LEASE = `
const { takeLease } = await import(process.argv[1])
takeLease(process.argv[2])
for (let round = 0; round < 3; round++) {
  gc()
  await new Promise((resolve) => setImmediate(resolve))
}
process.stdout.write('held')
setInterval(() => {}, 1000)`

describe('takeLease', () => {
  it('rejects a second holder immediately, with a hint', () => {
    const lease = takeLease(path)

    expect(() => takeLease(path)).toThrow(
      expect.objectContaining({ kind: 'storage-locked', hint: expect.stringContaining('storage.path') }),
    )

    lease.release()
  })

  it('still excludes other processes after a second attempt in the same process has failed', () => {
    const lease = takeLease(path)
    expect(() => takeLease(path)).toThrow(expect.objectContaining({ kind: 'storage-locked' }))

    const { stdout } = spawnSync(process.execPath, [...FLAGS, TRY_LEASE, MODULE, path], { encoding: 'utf8' })

    expect(stdout).toBe('storage-locked')
    lease.release()
  })

  it('still excludes other processes after it has stored a mark', () => {
    const lease = takeLease(path)
    for (const count of [1, 2]) lease.storeMark({ epoch: '0123456789abcdef', count })

    const { stdout } = spawnSync(process.execPath, [...FLAGS, TRY_LEASE, MODULE, path], { encoding: 'utf8' })

    expect(stdout).toBe('storage-locked')
    lease.release()
  })

  it('returns the last mark to the next holder, for the same epoch only, and leaves no other file', () => {
    const lease = takeLease(path)
    expect(lease.countOf('0123456789abcdef')).toBe(0)
    for (const count of [1, 7]) lease.storeMark({ epoch: 'f123456789abcdef', count })
    expect(readdirSync(directory)).toEqual(['data.db.lock'])
    lease.release()

    const next = takeLease(path)

    expect([next.countOf('f123456789abcdef'), next.countOf('0123456789abcdef')]).toEqual([7, 0])
    next.release()
  })

  it('takes a lease again after it was released twice', () => {
    const lease = takeLease(path)
    lease.release()
    lease.release()

    expect(() => takeLease(path).release()).not.toThrow()
  })

  it('lets one process hold the leases of two files', () => {
    const first = takeLease(path)

    expect(() => takeLease(join(directory, 'other.db')).release()).not.toThrow()

    first.release()
  })

  it('creates a lock file that only its owner can access', () => {
    takeLease(path).release()

    expect(statSync(`${path}.lock`).mode & 0o777).toBe(0o600)
  })

  it('holds an unreferenced lease until the process dies', async () => {
    const args = [...FLAGS, HOLD_LEASE, MODULE, path]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    expect(() => takeLease(path)).toThrow(expect.objectContaining({ kind: 'storage-locked' }))

    child.kill('SIGKILL')
    await once(child, 'exit')

    expect(() => takeLease(path).release()).not.toThrow()
  })
})
