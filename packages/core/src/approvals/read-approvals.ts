import {
  type ApprovalFilter,
  type ApprovalStore,
  type Page,
  type PageQuery,
  perdureError,
  type Visibility,
} from '@perdure/ports'
import { type ApprovalResource, toApprovalResource } from './approval-resource.ts'

/** Reads approvals for the API. */
export interface ReadApprovals {
  /** @throws PerdureError `approval-not-found`, also for an approval that is not visible */
  get(id: string, visibility: Visibility): Promise<ApprovalResource>
  list(filter: ApprovalFilter, page: PageQuery, visibility: Visibility): Promise<Page<ApprovalResource>>
}

export function createReadApprovals({ approvals }: { readonly approvals: ApprovalStore }): ReadApprovals {
  return {
    async get(id, visibility) {
      const approval = await approvals.find(id, visibility)
      if (approval === undefined) throw perdureError('approval-not-found')
      return toApprovalResource(approval)
    },
    async list(filter, page, visibility) {
      const { items, nextCursor } = await approvals.list(filter, page, visibility)
      return { items: items.map(toApprovalResource), nextCursor }
    },
  }
}
