/** Lists of addresses that domains share. */

export interface AddressListTables {
  address_list: {
    account_id: number;
    name: string;
    /** JSON: list of addresses and networks. */
    entries: string;
    changed_at: number;
  };
  /** Lists that each domain denies or allows. */
  address_list_use: {
    domain_id: number;
    account_id: number;
    name: string;
  };
}
