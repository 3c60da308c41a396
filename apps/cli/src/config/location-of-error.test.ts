import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDir } from '../../test/temporary-dir.ts'

const SOURCES = { place: import.meta.resolve('./place-of-error.ts'), track: import.meta.resolve('./track-imports.ts') }

describe('placeOfError', () => {
  const dir = temporaryDir()

  /** The place of what goes wrong when Node itself, rather than the test runner, imports `main.mjs`. */
  const placeOf = (files: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(dir(), name), text)
    const script = `
      import { placeOfError } from ${JSON.stringify(SOURCES.place)}
      import { trackImports } from ${JSON.stringify(SOURCES.track)}
      const imports = trackImports(${JSON.stringify(join(dir(), 'main.mjs'))})
      const error = await import(${JSON.stringify(join(dir(), 'main.mjs'))}).catch((error) => error)
      console.log(JSON.stringify({ place: placeOfError(error, imports.files()), files: imports.files() }))`
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    expect(stderr).toBe('')
    return JSON.parse(stdout.replaceAll(`${dir()}/`, '')) as { place?: string; files: string[] }
  }

  it.each([
    ['does not parse', { 'broken.mjs': 'export const a = 1\nexport const b = "x\n' }, 'broken.mjs:2'],
    ['imports what is not exported', { 'broken.mjs': '\nimport { nothing } from "./sound.mjs"\n' }, 'broken.mjs:2'],
    ['throws', { 'broken.mjs': '\n\nnothing()\n' }, 'broken.mjs:3'],
  ])('finds the file and the line of a module that %s', (_, broken, place) => {
    const main = 'import "./sound.mjs"\nimport "./broken.mjs"\n'

    expect(placeOf({ 'main.mjs': main, 'sound.mjs': 'export const a = 1\n', ...broken }).place).toBe(place)
  })

  it('finds TypeScript that cannot be stripped', () => {
    const { place } = placeOf({ 'main.mjs': 'import "./broken.ts"\n', 'broken.ts': 'const a = 1\nenum B { C }\n' })

    expect(place).toBe('broken.ts:2')
  })

  it('tells nothing it does not know', () => {
    expect(placeOf({ 'main.mjs': 'throw "text"' }).place).toBeUndefined()
  })
})

describe('trackImports', () => {
  const dir = temporaryDir()

  it('follows the files of the project, one that is missing too, and no packages', () => {
    writeFileSync(join(dir(), 'main.mjs'), 'import "node:fs"\nimport "./a.mjs"\n')
    writeFileSync(join(dir(), 'a.mjs'), 'import "./missing.mjs"\n')
    const script = `
      import { trackImports } from ${JSON.stringify(SOURCES.track)}
      const imports = trackImports(${JSON.stringify(join(dir(), 'main.mjs'))}, (file) => console.log(file))
      await import(${JSON.stringify(join(dir(), 'main.mjs'))}).catch(() => undefined)`
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })

    expect(stdout.trim().split('\n')).toEqual([join(dir(), 'a.mjs'), join(dir(), 'missing.mjs')])
  })
})
