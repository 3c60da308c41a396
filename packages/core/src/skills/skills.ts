import { createManageSkills, type ManageSkillsDeps } from './manage-skills.ts'
import { createReadSkills } from './read-skills.ts'

export type { ManageSkills } from './manage-skills.ts'
export type { ReadSkills } from './read-skills.ts'

/** Wires the use cases of skills. */
export const createSkills = (deps: ManageSkillsDeps) => ({
  readSkills: createReadSkills(deps),
  manageSkills: createManageSkills(deps),
})
