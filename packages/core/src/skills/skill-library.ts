import type { SkillStore, SkillSummary } from '@perdure/ports'

/** Several stores as one: of two skills with one name that of the first store counts; the last one takes installations. */
export function joinSkillStores(stores: readonly [...SkillStore[], SkillStore]): SkillStore {
  const ownerOf = async (name: string): Promise<SkillStore | undefined> => {
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
    find: async (name) => (await ownerOf(name))?.find(name),
    readFile: async (name, path) => ((await ownerOf(name)) ?? last).readFile(name, path),
    install: (source) => last.install(source),
    remove: async (name) => (await ownerOf(name))?.remove(name) ?? false,
  }
}
