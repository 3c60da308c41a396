import type { CreateStage } from './stage.ts'

/** Refuses a request if the server cannot audit it. */
export const createAudit: CreateStage =
  ({ admit }) =>
  ({ route }) => {
    if (route === undefined) return undefined
    const { privileged, scope } = route.mounted.operation
    return admit?.({ isPrivileged: privileged === true, isPublic: scope === null }).then(() => undefined)
  }
