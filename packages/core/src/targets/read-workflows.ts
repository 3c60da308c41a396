import type { Page, PageQuery } from '@perdure/ports'
import type { DescribeSchema } from './describe-schema.ts'
import { type DescribedTarget, pageOfTargets, type TargetResource, toDescribedTarget } from './target-resource.ts'
import type { WorkflowRegistry } from './workflow-registry.ts'

/** Reads registered workflows for the API. @throws PerdureError `workflow-not-found` */
export interface ReadWorkflows {
  list(page: PageQuery): Page<TargetResource>
  get(workflowId: string): DescribedTarget
}

export interface ReadWorkflowsDeps {
  readonly workflows: WorkflowRegistry
  readonly describeSchema: DescribeSchema
}

export const createReadWorkflows = ({ workflows, describeSchema }: ReadWorkflowsDeps): ReadWorkflows => ({
  list: (page) => pageOfTargets(workflows, page),
  get: (workflowId) => toDescribedTarget(workflows, workflows.get(workflowId), describeSchema),
})
