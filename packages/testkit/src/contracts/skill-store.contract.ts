import { isRefusal, type SkillStore } from '@perdure/ports'
import { describe, expect, it } from 'vitest'

/** A skill that the suite needs. */
export interface SkillFixture {
  readonly name: string
  readonly description: string
  readonly instructions: string
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly files?: Readonly<Record<string, string | Uint8Array>>
}

export interface SkillStoreHarness {
  readonly name: string
  /** Opens a store that contains `skills`; each of `sources` can be installed, with its name as the source. */
  open(given: {
    readonly skills: readonly SkillFixture[]
    readonly sources: readonly SkillFixture[]
  }): Promise<SkillStore>
}

export interface SkillStoreCase {
  readonly title: string
  run(open: SkillStoreHarness['open']): Promise<void>
}

const PDF: SkillFixture = {
  name: 'pdf',
  description: 'Fills forms: "Grüße 🚢".',
  instructions: '# PDF\n\nOpen `forms.md` first.\n',
  metadata: { license: 'MIT', metadata: { version: '1.0' }, tags: ['a', 'b'] },
  files: { 'forms.md': 'fields', 'scripts/fill.py': 'print(1)', 'data.bin': new Uint8Array([0, 255, 128]) },
}
const PLAIN: SkillFixture = { name: 'Plain_2', description: 'Nothing else.', instructions: 'Just do it.' }
const skill = (name: string): SkillFixture => ({ ...PLAIN, name })

/** Paths that every store must reject before it accesses any file. */
export const REFUSED_SKILL_PATHS: readonly string[] = [
  ...['', '/', '/etc/passwd', '..', '../pdf/forms.md', '../../etc/passwd', 'scripts/../../x', './forms.md', '.'],
  ...['scripts//fill.py', 'forms.md/', 'forms.md\0.txt', '\0', '..\\forms.md', 'C:\\boot.ini', '\\\\host\\share'],
  ...['scripts/..', 'a/./b', `${'a/'.repeat(600)}a`],
]

const text = (bytes: Uint8Array | undefined) => (bytes === undefined ? undefined : new TextDecoder().decode(bytes))
const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => (isRefusal(error) ? error.code : error),
  )

export const skillStoreCases: readonly SkillStoreCase[] = [
  {
    title: 'lists and finds nothing in an empty skill store',
    async run(open) {
      const store = await open({ skills: [], sources: [] })

      expect(await store.list()).toEqual([])
      expect(await store.find('pdf')).toBeUndefined()
      expect(await store.readFile('pdf', 'forms.md')).toBeUndefined()
    },
  },
  {
    title: 'lists skills by name in code-unit order',
    async run(open) {
      const store = await open({ skills: ['b', 'a_1', 'B', '9', 'a-1'].map(skill), sources: [] })

      expect((await store.list()).map(({ name }) => name)).toEqual(['9', 'B', 'a-1', 'a_1', 'b'])
    },
  },
  {
    title: 'returns the front matter, the instructions and the files of a skill',
    async run(open) {
      const store = await open({ skills: [PDF, PLAIN], sources: [] })
      const { name, description, metadata, instructions } = PDF

      const summary = { name, description, status: 'ready', metadata }
      expect((await store.list()).find((listed) => listed.name === name)).toEqual(summary)
      const files = ['data.bin', 'forms.md', 'scripts/fill.py']
      expect(await store.find(name)).toEqual({ ...summary, instructions, files })
      expect(await store.find(PLAIN.name)).toEqual({ ...PLAIN, status: 'ready', files: [] })
    },
  },
  {
    title: 'reads the files of a skill byte by byte',
    async run(open) {
      const store = await open({ skills: [PDF, PLAIN], sources: [] })

      expect(text(await store.readFile('pdf', 'forms.md'))).toBe('fields')
      expect(text(await store.readFile('pdf', 'scripts/fill.py'))).toBe('print(1)')
      expect(Array.from((await store.readFile('pdf', 'data.bin')) ?? [])).toEqual([0, 255, 128])
      expect(text(await store.readFile('pdf', 'SKILL.md'))).toContain('Open `forms.md` first.')
    },
  },
  {
    title: 'returns nothing for a missing file or a file of another skill',
    async run(open) {
      const store = await open({ skills: [PDF, PLAIN], sources: [] })

      for (const path of ['missing.md', 'scripts/missing', 'Forms.md.bak', 'forms.md/more']) {
        expect(await store.readFile('pdf', path)).toBeUndefined()
      }
      expect(await store.readFile('Plain_2', 'forms.md')).toBeUndefined()
    },
  },
  {
    title: 'rejects every path that is not a plain relative path',
    async run(open) {
      const store = await open({ skills: [PDF, PLAIN], sources: [] })

      for (const path of REFUSED_SKILL_PATHS) {
        expect(await refusal(store.readFile('pdf', path)), JSON.stringify(path)).toBe('validation-failed')
      }
    },
  },
  {
    title: 'finds nothing for a skill name that is a path',
    async run(open) {
      const store = await open({ skills: [PDF], sources: [] })

      for (const name of ['', '.', '..', '../pdf', 'pdf/', '/pdf', 'pdf/scripts', 'pdf\0', 'PDF.', '__proto__']) {
        expect(await store.find(name), JSON.stringify(name)).toBeUndefined()
        expect(await store.remove(name), JSON.stringify(name)).toBe(false)
      }
      expect((await store.list()).length).toBe(1)
    },
  },
  {
    title: 'installs a skill from a source with all its files',
    async run(open) {
      const store = await open({ skills: [PLAIN], sources: [PDF] })
      expect(await store.find('pdf')).toBeUndefined()

      expect(await store.install('pdf')).toMatchObject({ name: 'pdf', status: 'ready' })

      expect((await store.find('pdf'))?.files).toEqual(['data.bin', 'forms.md', 'scripts/fill.py'])
      expect(Array.from((await store.readFile('pdf', 'data.bin')) ?? [])).toEqual([0, 255, 128])
      expect((await store.list()).map(({ name }) => name)).toEqual(['Plain_2', 'pdf'])
    },
  },
  {
    title: 'refuses to install over an existing skill and leaves it unchanged',
    async run(open) {
      const store = await open({ skills: [{ ...PDF, instructions: 'mine' }], sources: [PDF] })

      expect(await refusal(store.install('pdf'))).toBe('skill-exists')
      expect((await store.find('pdf'))?.instructions).toBe('mine')
    },
  },
  {
    title: 'lets exactly one of many concurrent installs win',
    async run(open) {
      const store = await open({ skills: [], sources: [PDF] })

      const outcomes = await Promise.all(Array.from({ length: 8 }, () => refusal(store.install('pdf'))))

      expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1)
      expect(outcomes.filter((outcome) => outcome === 'skill-exists')).toHaveLength(7)
    },
  },
  {
    title: 'refuses to install from a folder that is not a source',
    async run(open) {
      const store = await open({ skills: [PLAIN], sources: [PDF] })

      for (const source of [...REFUSED_SKILL_PATHS, 'unknown', 'pdf/scripts', 'Plain_2', '__proto__']) {
        expect(await refusal(store.install(source)), JSON.stringify(source)).toBe('validation-failed')
      }
      expect((await store.list()).map(({ name }) => name)).toEqual(['Plain_2'])
    },
  },
  {
    title: 'removes a skill and allows it to be installed again',
    async run(open) {
      const store = await open({ skills: [PDF, PLAIN], sources: [PDF] })

      expect(await store.remove('pdf')).toBe(true)
      expect(await store.remove('pdf')).toBe(false)
      expect(await store.find('pdf')).toBeUndefined()
      expect((await store.list()).map(({ name }) => name)).toEqual(['Plain_2'])

      await store.install('pdf')
      expect((await store.find('pdf'))?.instructions).toBe(PDF.instructions)
    },
  },
]

/** Requirements for every `SkillStore`. */
export function skillStoreContract({ name, open }: SkillStoreHarness): void {
  describe(`SkillStore: ${name}`, () => {
    for (const { title, run } of skillStoreCases) it(title, () => run(open))
  })
}
