import { skillStoreContract } from '@perdure/testkit'
import { openSkills, writeSkill } from './skills.fixture.ts'

skillStoreContract({
  name: 'folders',
  async open({ skills, sources }) {
    const { store, directory, source } = await openSkills()
    for (const skill of skills) await writeSkill(directory, skill)
    for (const skill of sources) await writeSkill(source, skill)
    return store
  },
})
