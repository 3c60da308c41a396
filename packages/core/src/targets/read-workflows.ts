import type { Page, PageQuery } from '@perdure/ports'
import { pageOfTargets, type TargetResource, toTargetResource } from './target-resource.ts'
import type { WorkflowRegistry } from './workflow-registry.ts'

/** Reads registered workflows for the API. @throws AppError `workflow-not-found` */
export interface ReadWorkflows {
  list(page: PageQuery): Page<TargetResource>
  get(workflowId: string): TargetResource
}

export const createReadWorkflows = ({ workflows }: { readonly workflows: WorkflowRegistry }): ReadWorkflows => ({
  list: (page) => pageOfTargets(workflows, page),
  get: (workflowId) => toTargetResource(workflows, workflows.get(workflowId)),
})
