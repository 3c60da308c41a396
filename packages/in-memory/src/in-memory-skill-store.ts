import { perdureError, type SkillContent, type SkillStore, type SkillSummary } from '@perdure/ports'

/** A skill defined in code instead of a folder. */
export interface InMemorySkill {
  readonly name: string
  readonly description: string
  readonly instructions: string
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Content of the other files of the skill, as text or bytes, by path. */
  readonly files?: Readonly<Record<string, string | Uint8Array>> | undefined
}

export interface InMemorySkillOptions {
  readonly skills?: readonly InMemorySkill[]
  /** Skills that can be installed, by source. */
  readonly sources?: Readonly<Record<string, InMemorySkill>>
}

/** The reference adapter: skills registered in code. */
export function createInMemorySkillStore({ skills = [], sources = {} }: InMemorySkillOptions): SkillStore {
  const byName = new Map<string, InMemorySkill>()
  for (const skill of skills) if (!byName.has(skill.name)) byName.set(skill.name, skill)

  return {
    list: async () => Array.from(byName.values(), toSummary).sort((one, other) => (one.name < other.name ? -1 : 1)),
    async find(name) {
      const skill = byName.get(name)
      return skill === undefined ? undefined : toContent(skill)
    },
    async readFile(name, path) {
      if (!isPlainPath(path)) throw invalid('path: must be relative, without . and ..')
      const skill = byName.get(name)
      if (path === 'SKILL.md' && skill !== undefined) return bytesOf(skill.instructions)
      const file = Object.entries(skill?.files ?? {}).find(([known]) => known === path)?.[1]
      return file === undefined ? undefined : bytesOf(file)
    },
    async install(source) {
      const skill = Object.hasOwn(sources, source) ? sources[source] : undefined
      if (skill === undefined) throw invalid('source: no source directory contains this folder')
      if (byName.has(skill.name)) throw perdureError('skill-exists')
      byName.set(skill.name, skill)
      return toSummary(skill)
    },
    remove: async (name) => byName.delete(name),
  }
}

const toSummary = ({ name, description, metadata }: InMemorySkill): SkillSummary => ({
  ...{ name, description, status: 'ready' },
  ...(metadata === undefined ? {} : { metadata }),
})

const toContent = (skill: InMemorySkill): SkillContent => ({
  ...toSummary(skill),
  instructions: skill.instructions,
  files: Object.keys(skill.files ?? {}).sort(),
})

const bytesOf = (content: string | Uint8Array): Uint8Array =>
  typeof content === 'string' ? new TextEncoder().encode(content) : Uint8Array.from(content)

const isPlainPath = (path: string): boolean =>
  path.length <= 1_024 &&
  !/[\0\\]/.test(path) &&
  path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')

const invalid = (message: string) => perdureError('validation-failed', { message })
