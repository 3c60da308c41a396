import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { toolPath } from '../../../tooling/machine-tools.ts'
import { needsTool } from '../../../tooling/needed-tool.ts'
import { temporaryDir } from '../test/temporary-dir.ts'

const BIN = fileURLToPath(new URL('../bin/perdure.js', import.meta.url))

describe('bin/perdure.js', () => {
  const dir = temporaryDir()

  const runAs = (version: string, ...args: string[]) => {
    const preload = join(dir(), 'fake-version.cjs')
    const versions = `{ ...process.versions, node: ${JSON.stringify(version)} }`
    writeFileSync(preload, `Object.defineProperty(process, 'versions', { value: ${versions} })`)
    return spawnSync(process.execPath, ['--require', preload, BIN, ...args], { encoding: 'utf8' })
  }

  it.each(['18.19.0', '20.20.2', '22.17.9'])('rejects Node.js %s with an error message and exit code 2', (version) => {
    const { status, stdout, stderr } = runAs(version, 'server')

    expect(status).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toMatch(
      /^error\[node-too-old\]: Node\.js \S+ is too old: perdure needs 22\.18 or newer\n {2}hint: .+\n$/,
    )
  })

  it('writes one JSON document for an old Node.js with --json', () => {
    const { status, stdout } = runAs('20.20.2', 'server', '--json')

    expect(status).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({
      error: 'node-too-old',
      message: expect.any(String),
      hint: expect.any(String),
    })
  })

  needsTool('an old Node.js').it('rejects an installed old Node.js without printing a stack trace', () => {
    const { status, stderr } = spawnSync(toolPath('an old Node.js'), [BIN, 'server'], { encoding: 'utf8' })

    expect(status).toBe(2)
    expect(stderr).toContain('error[node-too-old]')
    expect(stderr).not.toMatch(/\n\s+at /)
  })
})
