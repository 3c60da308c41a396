import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { runCli } from '../run-cli.ts'

describe('perdure migrate', () => {
  const dir = temporaryDir()

  const migrate = async (args: readonly string[], env: Record<string, string> = {}) => {
    const terminal = recordingTerminal({ cwd: dir(), env })
    const exitCode = await runCli(['migrate', ...args], terminal)
    return { exitCode, out: terminal.out() }
  }

  it('shows every migration as pending before the first start and creates no file', async () => {
    const { exitCode, out } = await migrate(['status', '--json'])
    const { applied, pending } = JSON.parse(out) as { applied: unknown[]; pending: unknown[] }

    expect(exitCode).toBe(0)
    expect(applied).toEqual([])
    expect(pending.length).toBeGreaterThan(0)
    expect(existsSync(join(dir(), '.graphorin'))).toBe(false)
  })

  it('applies pending migrations once', async () => {
    const { out } = await migrate(['up', '--json'])
    const first = JSON.parse(out) as { applied: { appliedAt: string }[]; pending: unknown[] }

    expect(first.pending).toEqual([])
    expect(first.applied[0]?.appliedAt).toMatch(/^\d{4}-.*Z$/)
    expect(JSON.parse((await migrate(['up', '--json'])).out)).toEqual(first)
    expect((await migrate(['status'])).out).toContain('up to date')
  })

  it('rejects an in-memory database', async () => {
    expect((await migrate(['up'], { PERDURE_STORAGE_PATH: ':memory:' })).exitCode).toBe(2)
  })
})
