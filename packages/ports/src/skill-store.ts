/** Summary of a skill. Unusable skills are listed too, so that operators can see why they fail. */
export interface SkillSummary {
  readonly name: string // for a failing skill, the name of its folder
  readonly description: string // empty for a failing skill
  readonly status: 'ready' | 'failing'
  readonly reason?: string | undefined // why the skill is failing
  /** The remaining members of its front matter. Plain JSON. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** A skill: the text below its front matter, and the sorted paths of its other files, with `/` as the separator. */
export interface SkillContent extends SkillSummary {
  readonly instructions: string
  readonly files: readonly string[]
}

/**
 * Port. Stores skills: folders in the Agent Skills format, or an equivalent. Never opens anything outside a skill's own
 * folder. Must pass `skillStoreContract`.
 */
export interface SkillStore {
  /** Lists every skill, ordered by name in code-unit order; if two have the same name, the first one wins. */
  list(): Promise<readonly SkillSummary[]>
  find(name: string): Promise<SkillContent | undefined>
  /**
   * Returns the bytes of a file in the skill; `undefined` if there is no such skill or file.
   *
   * @throws PerdureError `validation-failed` if the path is not a plain relative path, leads out of the folder, or does not
   * lead to a file within the size limit
   */
  readFile(name: string, path: string): Promise<Uint8Array | undefined>
  /**
   * Copies a skill from a source folder. The skill is installed completely or not at all, even after a crash; of two
   * concurrent installs, exactly one succeeds.
   *
   * @throws PerdureError `skill-exists`; `validation-failed` if the source does not exist or is not a usable skill
   */
  install(source: string): Promise<SkillSummary>
  /** Removes the skill and returns whether it existed. @throws PerdureError `validation-failed` if it cannot be removed */
  remove(name: string): Promise<boolean>
}
