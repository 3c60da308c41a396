import type { SkillStore, SkillSummary } from '@perdure/ports'

/**
 * Combines stores: for each name, the first store that has the skill provides it; the last store installs new skills.
 */
export function joinSkillStores(stores: readonly [...SkillStore[], SkillStore]): SkillStore {
  const storeOf = async (name: string): Promise<SkillStore | undefined> => {
    for (const store of stores) if ((await store.find(name)) !== undefined) return store
    return undefined
  }
  const last = stores[stores.length - 1] as SkillStore

  return {
    async list() {
      const found = new Map<string, SkillSummary>()
      for (const store of stores) {
        for (const skill of await store.list()) if (!found.has(skill.name)) found.set(skill.name, skill)
      }
      return Array.from(found.values()).sort((one, other) => (one.name < other.name ? -1 : 1))
    },
    find: async (name) => (await storeOf(name))?.find(name),
    readFile: async (name, path) => ((await storeOf(name)) ?? last).readFile(name, path),
    install: (source) => last.install(source),
    remove: async (name) => (await storeOf(name))?.remove(name) ?? false,
  }
}
