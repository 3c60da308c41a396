import { type SkillFixture, skillStoreContract } from '@perdure/testkit'
import { createInMemorySkillStore } from './in-memory-skill-store.ts'

skillStoreContract({
  name: 'in-memory',
  open: async ({ skills, sources }) =>
    createInMemorySkillStore({
      skills,
      sources: Object.fromEntries(sources.map((source: SkillFixture) => [source.name, source])),
    }),
})
