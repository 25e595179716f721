-- lifetime: experiments, games and pairs over the whole life of the database, deleted ones included
select experiments, forgotten_experiments, games_stored, counted_pairs from kroo.lifetime
