import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Restart } from './supervision-state.ts'
import { versionOf } from './version-of.ts'
import { watchSources } from './watch-sources.ts'

function watched() {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-watch-')))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  mkdirSync(join(dir, 'lib'))
  const file = (name: string) => join(dir, name)
  const save = (name: string, text: string) => writeFileSync(file(name), text)
  const files = new Set<string>()
  const onChange = (change: Restart) => change.files.forEach((name) => void files.add(name))
  const sources = watchSources({ cwd: dir, configPath: file('perdure.config.mjs'), configDir: dir }, onChange)
  onTestFinished(() => sources.close())
  return { file, save, sources, reported: () => [...files] }
}

describe('watchSources', () => {
  it('reports a file that changed between being read and being watched', async () => {
    const { file, save, sources, reported } = watched()
    save('lib/say.mjs', 'one')
    const version = versionOf(file('lib/say.mjs'))
    save('lib/say.mjs', 'other')
    sources.add(file('lib/say.mjs'), version)

    await expect.poll(reported).toEqual([file('lib/say.mjs')])
  })

  it('reports a file that did not exist when it was read but exists when it is watched', async () => {
    const { file, save, sources, reported } = watched()
    const version = versionOf(file('lib/new.mjs'))
    save('lib/new.mjs', 'one')
    sources.add(file('lib/new.mjs'), version)

    await expect.poll(reported).toEqual([file('lib/new.mjs')])
  })

  it('reports changed files only', async () => {
    const { file, save, sources, reported } = watched()
    for (const name of ['lib/a.mjs', 'lib/b.mjs', 'lib/end.mjs']) {
      save(name, 'one')
      sources.add(file(name), versionOf(file(name)))
    }
    save('lib/a.mjs', 'other')
    await expect.poll(reported).toEqual([file('lib/a.mjs')])
    sources.add(file('lib/end.mjs'), 'another')

    await expect.poll(reported).toContain(file('lib/end.mjs'))
    expect(reported()).toEqual([file('lib/a.mjs'), file('lib/end.mjs')])
  })
})
