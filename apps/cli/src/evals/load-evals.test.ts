import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { loadEvals } from './load-evals.ts'
import { sourcePrint } from './source-print.ts'

const dir = temporaryDir()
const EVALS = pathToFileURL(join(import.meta.dirname, '../../../../packages/evals/src/index.ts')).href

const evalFile = (name: string, over = ''): string => `
import { casesFromFiles, defineEval } from ${JSON.stringify(EVALS)}
export const one = defineEval({
  name: ${JSON.stringify(name)},
  agent: { id: 'a', run: () => ({ text: 'hi' }) },
  cases: [{ id: 'inline', input: 1 }, casesFromFiles('kept.json')],
  ${over}
})
`

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = dir()
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

describe('loadEvals', () => {
  it('reads the files of cases in the folder of the eval file, beside inline cases', async () => {
    const folder = folderWith({
      'evals/a.eval.mjs': evalFile('a'),
      'evals/kept.json': '{ "id": "kept", "input": 2 }',
    })

    const { evals } = await loadEvals(folder, undefined)

    const [one] = evals
    expect((await one?.readCases(one.context))?.map(({ id }) => id)).toEqual(['inline', 'kept'])
    await expect(one?.readCases({ folder })).rejects.toThrow(
      `cannot read cases from ${join(folder, 'kept.json')}: there is no such file; a path is relative to the folder`,
    )
  })

  it('names the files of two evals with one name, also for a pattern that selects one of them', async () => {
    const folder = folderWith({ 'a.eval.mjs': evalFile('same'), 'b.eval.mjs': evalFile('same') })

    await expect(loadEvals(folder, 'a.eval')).rejects.toThrow('two evals are named same: in a.eval.mjs and b.eval.mjs')
  })

  it('skips a broken file that the pattern does not select', async () => {
    const folder = folderWith({ 'a.eval.mjs': evalFile('a'), 'broken.eval.mjs': 'throw new Error("half-written")' })

    const { evals, skipped } = await loadEvals(folder, 'a.eval')

    expect(evals.map(({ name }) => name)).toEqual(['a'])
    expect(skipped).toEqual(['broken.eval.mjs is skipped, because it cannot be loaded: half-written'])
    await expect(loadEvals(folder, undefined)).rejects.toThrow('broken.eval.mjs: half-written')
    await expect(loadEvals(folder, 'other')).rejects.toThrow('no eval matches other; broken.eval.mjs is skipped')
  })

  it('names the code by its source and by what the agent says about itself', async () => {
    const text = evalFile('a').replace("id: 'a',", "id: 'a', version: globalThis.evalVersion,")
    let folders = 0
    const codeOf = async (version: string, source = text) => {
      vi.stubGlobal('evalVersion', version)
      // A module is loaded once per path.
      const folder = join(folderWith({ [`${++folders}/a.eval.mjs`]: source }), String(folders))
      return (await loadEvals(folder, undefined)).evals[0]?.code
    }
    onTestFinished(() => void vi.unstubAllGlobals())

    expect(await codeOf('1')).toMatch(/^[0-9a-f]{12}$/)
    expect(await codeOf('1')).toBe(await codeOf('1'))
    expect(await codeOf('2')).not.toBe(await codeOf('1'))
    expect(await codeOf('1', `${text}// edited`)).not.toBe(await codeOf('1'))
  })
})

it('hashes the source of a module and of what it imports by relative paths', async () => {
  const folder = folderWith({
    'a.eval.mjs': "import { b } from './lib/b.mjs'\nawait import('./c.mjs')",
    'lib/b.mjs': "import '../a.eval.mjs'\nexport const b = 1",
    'c.mjs': '',
    'd.mjs': '',
  })
  const print = () => sourcePrint(join(folder, 'a.eval.mjs'))
  const first = await print()

  writeFileSync(join(folder, 'd.mjs'), 'changed')
  expect(await print()).toBe(first)
  writeFileSync(join(folder, 'c.mjs'), 'changed')
  const second = await print()
  expect(second).not.toBe(first)
  writeFileSync(join(folder, 'lib/b.mjs'), 'changed')
  expect(await print()).not.toBe(second)
})
