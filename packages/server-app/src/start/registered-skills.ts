import type { InMemorySkill } from '@perdure/in-memory'
import { type SkillStore, StartError } from '@perdure/ports'
import { isPlainObject, OPERATOR_ID } from '@perdure/protocol'

type LoadStore = (skills: readonly InMemorySkill[]) => Promise<SkillStore>

const loadInMemoryStore: LoadStore = async (skills) =>
  (await import('@perdure/in-memory')).createInMemorySkillStore({ skills })

/** Skills registered in code. They cannot be removed over REST. @throws StartError `config-invalid` */
export function createRegisteredSkills(skills: readonly InMemorySkill[], load = loadInMemoryStore): SkillStore {
  const names = new Set<string>()
  for (const [index, skill] of skills.entries()) {
    const problem = problemOf(skill, names)
    if (problem !== undefined) {
      throw new StartError('config-invalid', {
        message: `skills.${index}: ${problem}`,
        hint: 'register { name, description, instructions, files? } with a unique name',
      })
    }
    names.add(skill.name)
  }
  return lazySkillStore(() => load(skills))
}

/** Loads the store on first use, because most servers register no skills in code. After a failure, the next use retries. */
function lazySkillStore(load: () => Promise<SkillStore>): SkillStore {
  let loaded: Promise<SkillStore> | undefined
  const store = () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined
      throw error
    })
    return loaded
  }
  return {
    list: async () => (await store()).list(),
    find: async (name) => (await store()).find(name),
    readFile: async (name, path) => (await store()).readFile(name, path),
    install: async (source) => (await store()).install(source),
    remove: async (name) => (await store()).remove(name),
  }
}

function problemOf(skill: unknown, names: ReadonlySet<string>): string | undefined {
  if (!isPlainObject(skill)) return 'expected an object'
  const { name, description, instructions, files = {} } = skill
  if (typeof name !== 'string' || !OPERATOR_ID.test(name)) return 'name: expected letters, digits, "_" or "-"'
  if (names.has(name)) return `name: ${name} is registered twice`
  if (typeof description !== 'string' || description === '') return 'description: expected a non-empty string'
  if (typeof instructions !== 'string') return 'instructions: expected a string'
  const areFiles = isPlainObject(files) && Object.values(files).every(isContent)
  return areFiles ? undefined : 'files: expected strings or bytes by path'
}

const isContent = (value: unknown) => typeof value === 'string' || value instanceof Uint8Array
