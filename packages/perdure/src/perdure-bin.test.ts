import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'

const FOLDER = join(import.meta.dirname, '..')

describe('bin/perdure.js of perdure', () => {
  it('rejects an old Node.js as the command does, before it loads anything', () => {
    const dir = mkdtempSync(join(tmpdir(), 'perdure-bin-'))
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
    const preload = join(dir, 'fake-version.cjs')
    const versions = `{ ...process.versions, node: '20.20.2' }`
    writeFileSync(preload, `Object.defineProperty(process, 'versions', { value: ${versions} })`)
    const args = ['--require', preload, join(FOLDER, 'bin/perdure.js'), 'server', '--json']

    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })

    expect(status).toBe(2)
    expect(stderr).toMatch(/^error\[node-too-old\]: Node\.js 20\.20\.2 is too old: .+\n {2}hint: .+\n$/)
    expect(JSON.parse(stdout)).toMatchObject({ error: 'node-too-old' })
  })

  it('uses only syntax that an old Node.js can parse', () => {
    expect(readFileSync(join(FOLDER, 'bin/perdure.js'), 'utf8')).toMatch(
      /^#!.+\n\/\/ .+\nimport '@perdure\/cli\/bin'\n$/,
    )
  })
})
