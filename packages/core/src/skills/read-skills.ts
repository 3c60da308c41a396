import {
  type Page,
  type PageQuery,
  perdureError,
  type SkillContent,
  type SkillStore,
  type SkillSummary,
} from '@perdure/ports'
import { pageByName } from '../collections/page-by-name.ts'

/** Reads skills for the API. */
export interface ReadSkills {
  list(page: PageQuery): Promise<Page<SkillSummary>>
  /** @throws PerdureError `skill-not-found` */
  get(name: string): Promise<SkillContent>
}

export const createReadSkills = ({ skills }: { readonly skills: SkillStore }): ReadSkills => ({
  list: async (page) => pageByName(await skills.list(), ({ name }) => name, page),
  async get(name) {
    const skill = await skills.find(name)
    if (skill === undefined) throw perdureError('skill-not-found')
    return skill
  },
})
